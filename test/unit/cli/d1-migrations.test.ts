import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, onTestFinished, test } from "vitest";
import { applyMigrations, applyToEmptyFile } from "../../../cli/platform/d1-migrations.ts";
import type { D1 } from "../../../cli/database/database.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../migrations");

type Statement = ReturnType<D1["prepare"]> & { sql: string; values: (string | number | null)[] };

/** Returns an in-memory SQLite database with D1's interface; foreign keys are on, as in D1. */
function memoryD1(): { d1: D1; sqlite: DatabaseSync } {
  const sqlite = new DatabaseSync(":memory:", { enableForeignKeyConstraints: true });
  onTestFinished(() => sqlite.close());
  const statement = (sql: string, values: Statement["values"] = []): Statement => ({
    sql,
    values,
    bind: (...bound) => statement(sql, bound),
    all: async () => ({ results: sqlite.prepare(sql).all(...values) }),
  });
  return {
    sqlite,
    d1: {
      prepare: (sql) => statement(sql),
      batch: async (statements) => {
        sqlite.exec("BEGIN");
        for (const { sql, values } of statements as Statement[]) sqlite.prepare(sql).run(...values);
        sqlite.exec("COMMIT");
      },
    },
  };
}

function folderWith(names: string[]): string {
  const dir = mkdtempSync(join(tmpdir(), "threadworks-migrations-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const name of names) {
    const isOurs = readdirSync(MIGRATIONS).includes(name);
    const sql = isOurs ? readFileSync(join(MIGRATIONS, name), "utf8") : "SELECT 1";
    writeFileSync(join(dir, name), sql);
  }
  return dir;
}

describe("migrations", () => {
  test("are applied once and by their numbers, from 0", async ({ expect }) => {
    const { d1 } = memoryD1();
    const dir = folderWith(["10_d.sql", "0000_a.sql", "9_c.sql", "0001_b.sql", "later.sql"]);

    expect(await applyMigrations(d1, { dir })).toEqual([
      "0000_a.sql",
      "0001_b.sql",
      "9_c.sql",
      "10_d.sql",
      "later.sql",
    ]);
    expect(await applyMigrations(d1, { dir })).toEqual([]);
  });

  test("create the same tables in an empty database as D1 does one by one", async ({ expect }) => {
    const { d1, sqlite: oneByOne } = memoryD1();
    const atOnce = new DatabaseSync(join(folderWith([]), "empty.sqlite"));
    onTestFinished(() => atOnce.close());

    await applyMigrations(d1, { dir: MIGRATIONS, table: "done" });
    applyToEmptyFile(atOnce, { dir: MIGRATIONS, table: "done" });

    const tables = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name";
    expect(atOnce.prepare(tables).all()).toEqual(oneByOne.prepare(tables).all());
    const done = "SELECT id, name FROM done";
    expect(atOnce.prepare(done).all()).toEqual(oneByOne.prepare(done).all());
    expect(atOnce.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  test("of an empty file leave nothing behind when one of them fails", ({ expect }) => {
    const dir = folderWith(["0000_initial.sql"]);
    writeFileSync(join(dir, "0001_bad.sql"), "CREATE TABLE made (id TEXT); CREATE NONSENSE");
    const file = join(dir, "empty.sqlite");
    const failing = new DatabaseSync(file);
    expect(() => applyToEmptyFile(failing, { dir })).toThrow("syntax error");
    failing.close();

    const opened = new DatabaseSync(file);
    onTestFinished(() => opened.close());
    expect(opened.prepare("SELECT name FROM sqlite_master").all()).toEqual([]);
  });

  test("move plans to a separate table, and leave workspaces and keys unchanged", async ({
    expect,
  }) => {
    const { d1, sqlite } = memoryD1();
    const names = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql"));
    const regions = names.findIndex((name) => name.endsWith("_regions.sql"));
    await applyMigrations(d1, { dir: folderWith(names.toSorted().slice(0, regions)) });
    sqlite.exec(`
      INSERT INTO workspaces (id, name, plan, created_at) VALUES ('w', 'acme', 'plus', 5);
      INSERT INTO api_keys (id, workspace_id, name, prefix, hash, created_at, revoked_at)
        VALUES ('k', 'w', 'ci', 'tw_', 'hash', 6, 7)`);

    await applyMigrations(d1, { dir: MIGRATIONS });

    const rows = (table: string) => sqlite.prepare(`SELECT * FROM ${table}`).all();
    expect(rows("workspaces")).toEqual([{ id: "w", name: "acme", created_at: 5 }]);
    expect(rows("billing_plans")).toEqual([
      { workspace_id: "w", region: "us", plan: "plus", created_at: 5, updated_at: 5 },
    ]);
    expect(rows("api_keys")).toMatchObject([{ id: "k", workspace_id: "w", revoked_at: 7 }]);
    expect(() =>
      sqlite.exec(
        "INSERT INTO api_keys (id, workspace_id, name, prefix, hash, created_at) VALUES ('x', 'gone', '', '', 'h', 1)",
      ),
    ).toThrow("FOREIGN KEY");
    expect(() =>
      sqlite.exec(
        "INSERT INTO api_keys SELECT 'y', workspace_id, name, prefix, hash, 1, 1, 1 FROM api_keys",
      ),
    ).toThrow("UNIQUE");
  });
});
