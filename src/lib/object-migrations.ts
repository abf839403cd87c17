/** Whether the object's tables have been created. Opening an unknown id must not write anything. */
export function hasTables(sql: SqlStorage): boolean {
  return hasTable(sql, "migrations");
}

export function hasTable(sql: SqlStorage, name: string): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", name).toArray().length > 0;
}

/**
 * Runs the migrations that an object's SQLite lacks, in one transaction. The list of migrations is append-only. If
 * no table exists yet, `schema` is run instead: it creates the tables that all migrations lead to.
 */
export function migrateTables(
  storage: DurableObjectStorage,
  migrations: readonly string[],
  schema?: string,
): void {
  const { sql } = storage;
  storage.transactionSync(() => {
    const done = hasTables(sql) ? migrationsDone(sql) : 0;
    if (done >= migrations.length) return;
    sql.exec("CREATE TABLE IF NOT EXISTS migrations (id INTEGER PRIMARY KEY)");
    if (done === 0 && schema !== undefined) sql.exec(schema);
    else for (const statements of migrations.slice(done)) sql.exec(statements);
    sql.exec("INSERT INTO migrations (id) VALUES (?)", migrations.length - 1);
  });
}

/** Returns the number of migrations done. Only the last one is recorded; earlier releases recorded each one. */
function migrationsDone(sql: SqlStorage): number {
  return sql.exec<{ done: number }>("SELECT coalesce(max(id) + 1, 0) AS done FROM migrations").one()
    .done;
}
