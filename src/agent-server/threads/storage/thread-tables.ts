import { migrateTables } from "../../../lib/object-migrations.ts";
import { type LateTable, THREAD_MIGRATIONS, type ThreadMigration } from "./thread-migrations.ts";
import { LATE_TABLES, THREAD_SCHEMA } from "./thread-schema.ts";

/** Knows which tables a thread has, and creates and migrates them. */
export class ThreadTables {
  readonly #sql: SqlStorage;
  /** The names of the existing tables; null if they must be read. */
  #known: Set<string> | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** False if no thread was created, or it was removed. Checking this writes nothing. */
  get exist(): boolean {
    return this.has("thread");
  }

  /** False for a late table that was never written to: it has no rows, and no statement may name it. */
  has(name: "thread" | "migrations" | LateTable): boolean {
    this.#known ??= new Set(
      this.#sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
        .toArray()
        .map((table) => table.name),
    );
    return this.#known.has(name);
  }

  /** Must be called before rows are written to a late table, in the same transaction. */
  need(name: LateTable): void {
    if (this.has(name)) return;
    this.#sql.exec(LATE_TABLES[name]);
    this.#known?.add(name);
  }

  /** Creates the tables of a thread and returns true, or migrates those of an earlier release and returns false. */
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
    // Releases that created threads by migrations recorded their number in a table, and created every table.
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

  /** Clears the cache in memory, after a failed transaction, which may have created tables. */
  reset(): void {
    this.#known = null;
  }

  /** Must be called when the object's tables were deleted. */
  erased(): void {
    this.#known = new Set();
  }
}

function statementsOf(migration: ThreadMigration): string {
  return typeof migration === "string" ? migration : migration.statements;
}
