import { Argument, type Command } from "commander";
import { PLANS } from "../../src/db/schema.ts";
import type { Database, SqlRow } from "../database/database.ts";
import { setWorkspacePlan } from "../database/identity.ts";

/** Does something with the database that a command's options name, and prints what came of it. */
export type Act = (
  use: (database: Database) => Promise<SqlRow | SqlRow[]>,
  command: Command,
) => Promise<void>;

/** `workspace plan <id> <plan>`. */
export function addPlan(workspace: Command, act: Act): void {
  workspace
    .command("plan <id>")
    .description("change the plan of a workspace")
    .addArgument(new Argument("<plan>", "the plan").choices(PLANS))
    .action((id: string, plan: string, _options, command: Command) =>
      act((database) => setWorkspacePlan(database, id, plan), command),
    );
}
