import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { CliError } from "../cli-error.ts";
import { applyMigrations } from "../platform/d1-migrations.ts";
import {
  createMiniflare,
  databaseMiniflareOptions,
  readWorkerConfig,
} from "../platform/worker-options.ts";
import { localDatabase, type Database } from "./database.ts";
import { remoteDatabase } from "./remote-database.ts";

const BINDING = "DB";

export type DatabaseTarget =
  | { kind: "local"; stateDir: string }
  | { kind: "remote"; env: string | undefined };

/**
 * Lends a database to `use`. A local one may be in use by a running platform: both write to the same
 * SQLite file, in WAL mode, and the platform sees what was written with its next query.
 */
export async function withDatabase<T>(
  repoRoot: string,
  target: DatabaseTarget,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  if (target.kind === "remote") return use(remoteDatabase(repoRoot, target.env));
  const persistPath = join(resolve(target.stateDir), "v3");
  if (!existsSync(persistPath)) {
    throw new CliError(`${target.stateDir} holds no platform yet: start one with npm start`);
  }
  const config = readWorkerConfig(repoRoot);
  const miniflare = createMiniflare(databaseMiniflareOptions(config, persistPath));
  try {
    const database = await miniflare.getD1Database(BINDING);
    const { migrationsDir, table } =
      config.databases.find(({ binding }) => binding === BINDING) ?? {};
    if (migrationsDir !== undefined) await applyMigrations(database, { dir: migrationsDir, table });
    return await use(localDatabase(database));
  } finally {
    await miniflare.dispose();
  }
}
