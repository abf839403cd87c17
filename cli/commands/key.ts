import type { Command } from "commander";
import { createKey, listKeys, revokeKey } from "../database/identity.ts";
import { printFromDatabase } from "./database-command.ts";

export function addKey(program: Command): void {
  const key = program.command("key").description("create, list and revoke API keys");
  key
    .command("create")
    .description("create a key and print it; it cannot be shown again")
    .option("--workspace <id>", "its workspace; needed when there are several")
    .option("--name <name>", "what the key is for", "")
    .action((options: { workspace?: string; name: string }, command: Command) =>
      printFromDatabase(command, (database) =>
        createKey(database, { workspaceId: options.workspace, name: options.name }),
      ),
    );
  key.command("list").action((_options, command: Command) => printFromDatabase(command, listKeys));
  key
    .command("revoke <id>")
    .action((id: string, _options, command: Command) =>
      printFromDatabase(command, (database) => revokeKey(database, id)),
    );
}
