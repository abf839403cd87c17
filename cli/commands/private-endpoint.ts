import type { Command } from "commander";
import {
  addPrivateEndpoint,
  listPrivateEndpoints,
  removePrivateEndpoint,
} from "../database/private-endpoints.ts";
import type { Act } from "./plan.ts";

type AddOptions = { workspace: string; privateOnly: boolean; network: string[] };

/** `private-endpoint add|list|remove`. */
export function addPrivateEndpoints(program: Command, act: Act): void {
  const endpoint = program
    .command("private-endpoint")
    .description("enrol workspaces for private connectivity");
  endpoint
    .command("add")
    .description("enrol a workspace, or change how it is enrolled")
    .requiredOption("--workspace <id>", "a workspace of the plan enterprise")
    .option("--private-only", "refuse it on the public hosts", false)
    .option("--network <range>", "serve it to these addresses only; as often as needed", add, [])
    .action(({ workspace, privateOnly, network: networks }: AddOptions, command: Command) =>
      act(
        (database) => addPrivateEndpoint(database, workspace, { privateOnly, networks }),
        command,
      ),
    );
  endpoint
    .command("list")
    .action((_options, command: Command) => act(listPrivateEndpoints, command));
  endpoint
    .command("remove <workspace>")
    .description("serve the workspace on the public hosts only")
    .action((id: string, _options, command: Command) =>
      act((database) => removePrivateEndpoint(database, id), command),
    );
}

function add(network: string, networks: string[]): string[] {
  return [...networks, network];
}
