import { join } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { PLANS } from "../src/db/schema.ts";
import { describeError } from "./cli-error.ts";
import { addPlan } from "./commands/plan.ts";
import { addPrivateEndpoints } from "./commands/private-endpoint.ts";
import type { Database, SqlRow } from "./database/database.ts";
import {
  createKey,
  createWorkspace,
  listKeys,
  listWorkspaces,
  revokeKey,
} from "./database/identity.ts";
import { withDatabase, type DatabaseTarget } from "./database/open-database.ts";
import { DEFAULT_STATE, pathFromUser, REPO_ROOT } from "./invocation.ts";

type GlobalOptions = {
  state?: string;
  billingState?: string;
  remote?: boolean;
  env?: string;
  json?: boolean;
};

const program = new Command("threadworks")
  .description("Manages the workspaces and API keys of a Threadworks platform.")
  .option("--state <folder>", `a local platform's state (default: ${DEFAULT_STATE})`)
  .option("--billing-state <folder>", "that of the US region's platform, which has the plans")
  .option("--remote", "the deployed platform, with wrangler's credentials")
  .addOption(new Option("--env <region>", "the deployed region").choices(["us", "eu"]))
  .option("--json", "print JSON")
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text) });

const workspace = program.command("workspace").description("create and list workspaces");
workspace
  .command("create <name>")
  .addOption(new Option("--plan <plan>", "the plan").choices(PLANS).default("developer"))
  .action((name: string, options: { plan: string }) =>
    act((database) => createWorkspace(database, name, options.plan)),
  );
workspace.command("list").action(() => act(listWorkspaces));
addPlan(workspace, act);
addPrivateEndpoints(program, act);

const key = program.command("key").description("create, list and revoke API keys");
key
  .command("create")
  .description("make a key and print it, this once")
  .option("--workspace <id>", "its workspace; needed when there are several")
  .option("--name <name>", "what the key is for", "")
  .action((options: { workspace?: string; name: string }) =>
    act((database) => createKey(database, { workspaceId: options.workspace, name: options.name })),
  );
key.command("list").action(() => act(listKeys));
key.command("revoke <id>").action((id: string) => act((database) => revokeKey(database, id)));

async function act(use: (database: Database) => Promise<SqlRow | SqlRow[]>): Promise<void> {
  const options = program.opts<GlobalOptions>();
  print(await withDatabase(REPO_ROOT, target(options), use), options.json === true);
}

function target({ remote, env, state, billingState }: GlobalOptions): DatabaseTarget {
  if (remote === true) {
    if ((state ?? billingState) !== undefined) {
      program.error(
        "error: --state and --billing-state are of local platforms, and exclude --remote",
      );
    }
    return { kind: "remote", env };
  }
  if (env !== undefined) program.error("error: --env needs --remote");
  const stateDir = state === undefined ? join(REPO_ROOT, DEFAULT_STATE) : pathFromUser(state);
  const billingStateDir = billingState === undefined ? undefined : pathFromUser(billingState);
  return { kind: "local", stateDir, billingStateDir };
}

function print(result: SqlRow | SqlRow[], asJson: boolean): void {
  if (asJson) console.log(JSON.stringify(result, null, 2));
  else if (Array.isArray(result)) console.log(result.map(formatRow).join("\n"));
  else console.log(formatFields(result));
}

function formatRow(row: SqlRow): string {
  return Object.entries(row).map(formatValue).join("  ");
}

function formatFields(row: SqlRow): string {
  const width = Math.max(...Object.keys(row).map((name) => name.length));
  return Object.entries(row)
    .map((entry) => `${entry[0].padEnd(width)}  ${formatValue(entry)}`)
    .join("\n");
}

function formatValue([name, value]: [string, unknown]): string {
  if (value === null || value === "") return "-";
  if (name.endsWith("_at") && typeof value === "number") return new Date(value).toISOString();
  return typeof value === "string" ? value : JSON.stringify(value);
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode);
  console.error(`error: ${describeError(error)}`);
  process.exit(1);
}
