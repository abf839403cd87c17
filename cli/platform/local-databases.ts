import { createHash, createHmac } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { CliError } from "../cli-error.ts";
import type { D1 } from "../database/database.ts";
import {
  appliedMigrations,
  applyMigrations,
  applyToEmptyFile,
  migrationsIn,
} from "./d1-migrations.ts";
import { sqlite } from "./sqlite.ts";
import { damagedFile, sqliteFailure, stateFailure } from "./state-failure.ts";
import { createMiniflare, databaseMiniflareOptions, type WorkerConfig } from "./worker-options.ts";

/** Miniflare's class of the objects that hold the databases; their files are named after it. */
const D1_OBJECT = "miniflare-D1DatabaseObject";

/** Maximum bytes of a database that is checked before each start, because the check reads the whole file. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024;

const REMEDY =
  "restore a copy of it, or save what can be read with `sqlite3 <file> .recover`, while the server is stopped";

type Preparation = {
  config: WorkerConfig;
  persistPath: string;
  runtimeEnv: Record<string, string>;
  /** Called with each database once it has all migrations. */
  prepare: (database: D1) => Promise<void>;
};

/**
 * Migrates and prepares the databases before the Worker starts, because its objects and timers may use the
 * tables at once. Throws a `CliError` that names the file of a damaged or missing database.
 */
export async function prepareDatabases(preparation: Preparation): Promise<void> {
  const { config, persistPath, prepare } = preparation;
  const unready: WorkerConfig["databases"] = [];
  refuseMissingDatabases(config, persistPath);
  for (const database of config.databases) {
    const file = databaseFile(persistPath, config, database.binding);
    if (!existsSync(file)) createFile(file, database);
    const isReady = existsSync(file) && (await prepareFile(file, database, prepare));
    if (!isReady) unready.push(database);
  }
  if (unready.length > 0) await migrate(preparation, unready);
}

/**
 * Opens one database, with all migrations applied, for `use`. A running platform may use the same file: both
 * have it open in WAL mode, and each sees the other's changes with its next query.
 */
export async function withLocalDatabase<T>(
  at: Pick<Preparation, "config" | "persistPath"> & { binding: string },
  use: (database: D1) => Promise<T>,
): Promise<T> {
  const { config, persistPath, binding } = at;
  const databases = config.databases.filter((database) => database.binding === binding);
  let used: { result: T } | undefined;
  await prepareDatabases({
    config: { ...config, databases },
    persistPath,
    runtimeEnv: {},
    prepare: async (database) => {
      used = { result: await use(database) };
    },
  });
  if (used === undefined) throw new Error(`There is no database ${binding}`);
  return used.result;
}

/**
 * Throws a `CliError` when a state that has been served lacks a database, because an empty one would be
 * created in its place.
 */
function refuseMissingDatabases(config: WorkerConfig, persistPath: string): void {
  // The first start creates the databases before the objects, so the objects' folder shows that databases existed.
  if (!existsSync(join(persistPath, "do"))) return;
  for (const { binding } of config.databases) {
    const file = databaseFile(persistPath, config, binding);
    if (existsSync(file)) continue;
    throw new CliError(
      `${file} is missing, and the other data of ${persistPath} cannot be used without it: restore a copy of it, or start with another folder (--state)`,
    );
  }
}

/**
 * Creates a file with all migrations. Databases without migrations are left to D1, and so are all when Node
 * has no SQLite.
 */
function createFile(
  file: string,
  { migrationsDir, table }: WorkerConfig["databases"][number],
): void {
  if (sqlite === undefined || migrationsDir === undefined) return;
  let opened: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true });
    opened = new sqlite.DatabaseSync(file);
    applyToEmptyFile(opened, { dir: migrationsDir, table });
  } catch (error) {
    throw sqliteFailure(stateFailure(error, file), file, REMEDY);
  } finally {
    opened?.close();
  }
}

/**
 * Prepares a database through its file. Returns false when a migration is missing, which D1 itself then
 * applies, or when Node has no SQLite.
 */
async function prepareFile(
  file: string,
  { migrationsDir, table }: WorkerConfig["databases"][number],
  prepare: Preparation["prepare"],
): Promise<boolean> {
  if (sqlite === undefined) return false;
  let opened: DatabaseSync | undefined;
  try {
    accessSync(file, constants.W_OK);
    opened = new sqlite.DatabaseSync(file, { timeout: 5_000 });
    const problem = statSync(file).size > MAX_CHECKED_BYTES ? undefined : problemOf(opened);
    if (problem !== undefined) throw damagedFile(file, problem, REMEDY);
    const database = fileDatabase(opened);
    if (migrationsDir !== undefined) {
      const applied = await appliedMigrations(database, table);
      if (migrationsIn(migrationsDir).some((name) => !applied.has(name))) return false;
    }
    await prepare(database);
    return true;
  } catch (error) {
    throw sqliteFailure(stateFailure(error, file), file, REMEDY);
  } finally {
    opened?.close();
  }
}

/** Returns the first problem that SQLite finds in the file, if any. */
function problemOf(opened: DatabaseSync): string | undefined {
  const [row] = opened.prepare("PRAGMA quick_check(1)").all();
  const found = String(row?.["quick_check"]);
  return found === "ok" ? undefined : found.split("\n", 1)[0];
}

async function migrate(
  { config, persistPath, runtimeEnv, prepare }: Preparation,
  databases: WorkerConfig["databases"],
): Promise<void> {
  const options = databaseMiniflareOptions(config, persistPath, runtimeEnv);
  const miniflare = createMiniflare(options);
  try {
    for (const { binding, migrationsDir, table } of databases) {
      const database = await miniflare.getD1Database(binding);
      if (migrationsDir !== undefined) {
        await applyMigrations(database, { dir: migrationsDir, table });
      }
      await prepare(database);
    }
  } finally {
    await miniflare.dispose();
  }
}

/** Returns the path of a database's file, computed as Miniflare computes it for any named object. */
function databaseFile(persistPath: string, config: WorkerConfig, binding: string): string {
  const configured = Object.entries(config.miniflare.d1Databases ?? {}).find(
    ([name]) => name === binding,
  )?.[1];
  const id = typeof configured === "string" ? configured : (configured?.id ?? binding);
  const key = createHash("sha256").update(D1_OBJECT).digest();
  const hmac = (text: string | Buffer): Buffer =>
    createHmac("sha256", key).update(text).digest().subarray(0, 16);
  const name = hmac(id);
  const objectId = Buffer.concat([name, hmac(name)]).toString("hex");
  return join(persistPath, "d1", D1_OBJECT, `${objectId}.sqlite`);
}

/** Wraps a database's file in the part of a D1 binding that the tools use. */
function fileDatabase(opened: DatabaseSync): D1 {
  const statement = (sql: string, values: SQLInputValue[]): ReturnType<D1["prepare"]> => ({
    bind: (...given) => statement(sql, given),
    all: async () => ({ results: opened.prepare(sql).all(...values) }),
  });
  return {
    prepare: (sql) => statement(sql, []),
    batch: async (statements) => {
      opened.exec("BEGIN IMMEDIATE");
      try {
        for (const each of statements) await each.all();
        opened.exec("COMMIT");
      } catch (error) {
        opened.exec("ROLLBACK");
        throw error;
      }
    },
  };
}
