import { Argument, type Command } from "commander";
import { PLANS } from "../../src/lib/plan-order.ts";
import { setWorkspacePlan } from "../database/identity.ts";
import { printFromDatabase } from "./database-command.ts";

/** Adds the command `workspace plan <id> <plan>`. */
export function addPlan(workspace: Command): void {
  workspace
    .command("plan <id>")
    .description("change the plan of a workspace")
    .addArgument(new Argument("<plan>", "the plan").choices(PLANS))
    .action((id: string, plan: string, _options, command: Command) =>
      printFromDatabase(command, (database) => setWorkspacePlan(database, id, plan)),
    );
}
