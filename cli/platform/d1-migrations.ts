import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { D1 } from "../database/database.ts";

const DEFAULT_TABLE = "d1_migrations";

/**
 * Applies the migrations of a folder that a local D1 database lacks, each in one transaction, with the
 * bookkeeping of `wrangler d1 migrations apply`. Returns the names of the applied migrations.
 */
export async function applyMigrations(
  database: D1,
  options: { dir: string; table?: string | undefined },
): Promise<string[]> {
  const names = migrationsIn(options.dir);
  if (names.length === 0) return [];

  const table = quotedTable(options.table);
  await database.prepare(bookkeepingOf(table)).all();
  const applied = await appliedMigrations(database, options.table);
  const missing = names.filter((name) => !applied.has(name)).toSorted(byLeadingNumber);
  if (missing.length === 0) return [];
  const { unstable_splitSqlQuery } = await import("wrangler");
  for (const name of missing) {
    const statements = unstable_splitSqlQuery(readFileSync(join(options.dir, name), "utf8"));
    await database.batch([
      ...statements.map((statement) => database.prepare(statement)),
      database.prepare(`INSERT INTO ${table} (name) VALUES (?)`).bind(name),
    ]);
  }
  return missing;
}

/**
 * Applies all of a folder's migrations to an empty file that no D1 has open, in one transaction: when one
 * fails, closing the file rolls back. The result is the same as that of `applyMigrations`, which takes longer
 * because it needs a workerd and wrangler's library.
 */
export function applyToEmptyFile(
  opened: DatabaseSync,
  options: { dir: string; table?: string | undefined },
): void {
  const table = quotedTable(options.table);
  // D1 uses this journal mode, and would otherwise convert the file first.
  opened.exec("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE");
  opened.exec(bookkeepingOf(table));
  const noteApplied = opened.prepare(`INSERT INTO ${table} (name) VALUES (?)`);
  for (const name of migrationsIn(options.dir).toSorted(byLeadingNumber)) {
    opened.exec(readFileSync(join(options.dir, name), "utf8"));
    noteApplied.run(name);
  }
  opened.exec("COMMIT");
}

function bookkeepingOf(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table}(
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT UNIQUE,
    applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
  )`;
}

/** Returns the names of a folder's migrations; none when the folder does not exist. */
export function migrationsIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(".sql")) : [];
}

/** Returns the names of the migrations that were applied to a database. */
export async function appliedMigrations(
  database: D1,
  table: string | undefined,
): Promise<ReadonlySet<unknown>> {
  const known = await database
    .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    .bind(table ?? DEFAULT_TABLE)
    .all();
  if (known.results.length === 0) return new Set();
  const { results } = await database.prepare(`SELECT name FROM ${quotedTable(table)}`).all();
  return new Set(results.map((row) => row["name"]));
}

function quotedTable(table: string = DEFAULT_TABLE): string {
  return `"${table.replaceAll('"', '""')}"`;
}

/** Compares names so that `9_x.sql` comes before `10_y.sql`. Names without a number come last. */
function byLeadingNumber(a: string, b: string): number {
  const numberOfA = leadingNumber(a);
  const numberOfB = leadingNumber(b);
  if (numberOfA !== numberOfB) return numberOfA < numberOfB ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function leadingNumber(name: string): number {
  const number = Number.parseInt(name, 10);
  return Number.isNaN(number) ? Infinity : number;
}
