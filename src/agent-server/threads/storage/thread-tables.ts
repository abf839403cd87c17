import { migrateTables } from "../../../lib/object-migrations.ts";
import { type LateTable, THREAD_MIGRATIONS, type ThreadMigration } from "./thread-migrations.ts";
import { LATE_TABLES, THREAD_SCHEMA } from "./thread-schema.ts";

/** Which tables a thread has, and how they come into being. */
export class ThreadTables {
  readonly #sql: SqlStorage;
  /** Which tables there are, of those that are asked for; null when they have to be read. */
  #known: Set<string> | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** False where no thread was made, or it is gone. Looking for it writes nothing. */
  get exist(): boolean {
    return this.has("thread");
  }

  /** False for a late table that nothing was written to: it has no rows, and no statement may name it. */
  has(name: "thread" | "migrations" | LateTable): boolean {
    this.#known ??= new Set(
      this.#sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
        .toArray()
        .map((table) => table.name),
    );
    return this.#known.has(name);
  }

  /** To be called before rows are written to a late table, in the same transaction. */
  need(name: LateTable): void {
    if (this.has(name)) return;
    this.#sql.exec(LATE_TABLES[name]);
    this.#known?.add(name);
  }

  /** Makes the tables of a thread, and returns true, or brings those of an earlier release up to date. */
  prepare(
    storage: DurableObjectStorage,
    migrations: readonly ThreadMigration[] = THREAD_MIGRATIONS,
  ): boolean {
    if (!this.exist) {
      this.#sql.exec(THREAD_SCHEMA);
      this.#known = new Set(["thread"]);
      return true;
    }
    this.#migrate(storage, migrations);
    return false;
  }

  #migrate(storage: DurableObjectStorage, migrations: readonly ThreadMigration[]): void {
    // Releases that made threads by the migrations have noted them in a table, and have made every table.
    if (this.has("migrations")) {
      migrateTables(storage, migrations.map(statementsOf));
      this.reset();
      return;
    }
    const { done } = this.#sql
      .exec<{ done: number }>("SELECT schema_version AS done FROM thread")
      .one();
    if (done >= migrations.length) return;
    storage.transactionSync(() => {
      for (const migration of migrations.slice(done)) {
        const concerns = typeof migration === "string" || this.has(migration.table);
        if (concerns) this.#sql.exec(statementsOf(migration));
      }
      this.#sql.exec("UPDATE thread SET schema_version = ?", migrations.length);
    });
    this.reset();
  }

  /** Forgets what is held in memory, after a transaction that failed: it may have made some. */
  reset(): void {
    this.#known = null;
  }

  /** The object's tables are gone. */
  erased(): void {
    this.#known = new Set();
  }
}

function statementsOf(migration: ThreadMigration): string {
  return typeof migration === "string" ? migration : migration.statements;
}
