import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { BILLING_REGION } from "../../src/lib/region.ts";
import { openInstalledDatabase } from "../account/installed-database.ts";
import { CliError } from "../cli-error.ts";
import { START_COMMAND } from "../installation.ts";
import { IS_PACKAGE } from "../invocation.ts";
import { keptWorkerConfig } from "../platform/kept-config.ts";
import { withLocalDatabase } from "../platform/local-databases.ts";
import { stateRegion } from "../platform/state-region.ts";
import { localDatabase, type Database } from "./database.ts";
import { remoteDatabase } from "./remote-database.ts";

const BINDING = "DB";

export type DatabaseTarget =
  | {
      kind: "local";
      stateDir: string;
      /** State of the US region's platform, for data that is stored only there. */
      billingStateDir?: string | undefined;
    }
  | { kind: "remote"; env: string | undefined };

/**
 * Opens a database for `use`. A running platform may be using the same local database: both write to one
 * SQLite file in WAL mode, and the platform sees changes with its next query.
 */
export async function withDatabase<T>(
  repoRoot: string,
  target: DatabaseTarget,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  if (target.kind === "remote") {
    if (IS_PACKAGE) return use(await openInstalledDatabase(target.env));
    return use(remoteDatabase(repoRoot, target.env));
  }
  const { stateDir, billingStateDir } = target;
  if (billingStateDir === undefined) return withState(repoRoot, stateDir, use);
  if (stateRegion(billingStateDir) !== BILLING_REGION) {
    throw new CliError(
      `${billingStateDir} does not belong to the US region, which stores the plans`,
    );
  }
  return withState(repoRoot, stateDir, (database) =>
    withState(repoRoot, billingStateDir, (billing) => use({ ...database, billing })),
  );
}

async function withState<T>(
  repoRoot: string,
  stateDir: string,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const persistPath = join(resolve(stateDir), "v3");
  if (!existsSync(persistPath)) {
    throw new CliError(`${stateDir} holds no platform yet: start one with ${START_COMMAND}`);
  }
  const config = await keptWorkerConfig(repoRoot);
  return withLocalDatabase({ config, persistPath, binding: BINDING }, (database) =>
    use(localDatabase(database, stateRegion(stateDir))),
  );
}
