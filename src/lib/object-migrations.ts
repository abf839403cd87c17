/** True when the object's tables were made. Opening an unknown id must not write anything. */
export function hasTables(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").toArray().length > 0;
}

/** Runs the migrations that an object's SQLite lacks, in one transaction. The list is append-only. */
export function migrateTables(storage: DurableObjectStorage, migrations: readonly string[]): void {
  const { sql } = storage;
  storage.transactionSync(() => {
    sql.exec("CREATE TABLE IF NOT EXISTS migrations (id INTEGER PRIMARY KEY)");
    const row = sql.exec<{ done: number }>("SELECT count(*) AS done FROM migrations").one();
    for (const [index, statements] of migrations.entries()) {
      if (index < row.done) continue;
      sql.exec(statements);
      sql.exec("INSERT INTO migrations (id) VALUES (?)", index);
    }
  });
}
