import { type Command, Option } from "commander";
import { PLANS } from "../../src/lib/plan-order.ts";
import { createWorkspace, listWorkspaces } from "../database/identity.ts";
import { printFromDatabase } from "./database-command.ts";
import { addPlan } from "./plan.ts";

export function addWorkspace(program: Command): void {
  const workspace = program.command("workspace").description("create and list workspaces");
  workspace
    .command("create <name>")
    .addOption(new Option("--plan <plan>", "the plan").choices(PLANS).default("developer"))
    .action((name: string, options: { plan: string }, command: Command) =>
      printFromDatabase(command, (database) => createWorkspace(database, name, options.plan)),
    );
  workspace
    .command("list")
    .action((_options, command: Command) => printFromDatabase(command, listWorkspaces));
  addPlan(workspace);
}
