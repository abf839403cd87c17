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

/** The class of Miniflare that has the databases, which names their files. */
const D1_OBJECT = "miniflare-D1DatabaseObject";

/** A larger file is not read as a whole before each start. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024;

const REMEDY =
  "put back a copy of it, or save what can be read with `sqlite3 <file> .recover`, while the server is stopped";

type Preparation = {
  config: WorkerConfig;
  persistPath: string;
  runtimeEnv: Record<string, string>;
  /** Runs with each database when it has all migrations. */
  prepare: (database: D1) => Promise<void>;
};

/**
 * Migrates and prepares the databases before the Worker starts, because its objects and timers may use
 * the tables at once. Throws a `CliError` that names the file of one that is damaged, or gone.
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
 * Lends one database, with all migrations, to `use`. A platform may be running on it: both have the same file open, in
 * WAL mode, and each sees with its next query what the other has written.
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

/** Throws a `CliError` when a state that has been served lacks a database: an empty one would take its place. */
function refuseMissingDatabases(config: WorkerConfig, persistPath: string): void {
  // Objects are made when a Worker is served, and the databases before that.
  if (!existsSync(join(persistPath, "do"))) return;
  for (const { binding } of config.databases) {
    const file = databaseFile(persistPath, config, binding);
    if (existsSync(file)) continue;
    throw new CliError(
      `${file} is missing, and the other data of ${persistPath} is of no use without it: put back a copy of it, or begin anew with another folder (--state)`,
    );
  }
}

/** Makes a file with all migrations; one without any, or where there is no SQLite here, is left to D1. */
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

/** False when the file lacks a migration, which D1 itself applies, or when there is no SQLite here but that of D1. */
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

/** What SQLite finds wrong with a file, if anything. */
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

/** Where Miniflare keeps a database: it names the file as it does any object's that has a name. */
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

/** A database's file, with what the tools use of a D1 binding. */
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
