import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import type { Database } from "../../../../cli/database/database.ts";
import type { Region } from "../../../../src/lib/region.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../../migrations");

/** Returns an in-memory database with the tables of the migrations. */
export function migratedDatabase(region: Region = "us"): Database {
  const sqlite = new DatabaseSync(":memory:");
  onTestFinished(() => sqlite.close());
  const names = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql"));
  for (const name of names.toSorted()) sqlite.exec(readFileSync(join(MIGRATIONS, name), "utf8"));
  return {
    region,
    run: async (sql, values = []) => sqlite.prepare(sql).all(...values),
  };
}
