import type { Command } from "commander";
import {
  addPrivateEndpoint,
  listPrivateEndpoints,
  removePrivateEndpoint,
} from "../database/private-endpoints.ts";
import { printFromDatabase } from "./database-command.ts";

type EnrolOptions = { workspace: string; privateOnly: boolean; network: string[] };

/** Adds the commands `private-endpoint add`, `list` and `remove`. */
export function addPrivateEndpoints(program: Command): void {
  const endpoint = program
    .command("private-endpoint")
    .description("enrol workspaces for private connectivity");
  endpoint
    .command("add")
    .description("enrol a workspace, or change how it is enrolled")
    .requiredOption("--workspace <id>", "a workspace of the plan enterprise")
    .option("--private-only", "refuse it on the public hosts", false)
    .option(
      "--network <range>",
      "serve it to this range of addresses only; may be repeated",
      add,
      [],
    )
    .action((options: EnrolOptions, command: Command) =>
      printFromDatabase(command, (database) =>
        addPrivateEndpoint(database, options.workspace, {
          privateOnly: options.privateOnly,
          networks: options.network,
        }),
      ),
    );
  endpoint
    .command("list")
    .action((_options, command: Command) => printFromDatabase(command, listPrivateEndpoints));
  endpoint
    .command("remove <workspace>")
    .description("serve the workspace on the public hosts only")
    .action((id: string, _options, command: Command) =>
      printFromDatabase(command, (database) => removePrivateEndpoint(database, id)),
    );
}

function add(network: string, networks: string[]): string[] {
  return [...networks, network];
}
