import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import type { SqlRow } from "../../src/db/tools/sql-runner.ts";
import type { Database } from "../database/database.ts";
import type { DatabaseTarget } from "../database/open-database.ts";
import { defaultState } from "../installation.ts";
import { pathFromUser, REPO_ROOT } from "../invocation.ts";
import { formatRows, printJson } from "../terminal/print.ts";
import type { GlobalOptions } from "./global-options.ts";

/** Opens the database that the options name, and prints the result of `use`. */
export async function printFromDatabase(
  command: Command,
  use: (database: Database) => Promise<SqlRow | SqlRow[]>,
): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  // Loaded on demand: its modules include workerd, which takes longer to load than other commands run.
  const { withDatabase } = await import("../database/open-database.ts");
  const result = await withDatabase(REPO_ROOT, databaseTarget(options), use);
  if (options.json === true) printJson(result);
  else console.log(formatRows(result));
}

function databaseTarget({ remote, env, state, billingState }: GlobalOptions): DatabaseTarget {
  if (remote === true) {
    if ((state ?? billingState) !== undefined) {
      throw new CliError(
        "--state and --billing-state are for local platforms: they cannot be combined with --remote",
      );
    }
    return { kind: "remote", env };
  }
  if (env !== undefined) throw new CliError("--env needs --remote");
  const stateDir = state === undefined ? defaultState() : pathFromUser(state);
  const billingStateDir = billingState === undefined ? undefined : pathFromUser(billingState);
  return { kind: "local", stateDir, billingStateDir };
}
