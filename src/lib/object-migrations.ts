/** True when the object's tables were made. Opening an unknown id must not write anything. */
export function hasTables(sql: SqlStorage): boolean {
  return hasTable(sql, "migrations");
}

export function hasTable(sql: SqlStorage, name: string): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", name).toArray().length > 0;
}

/**
 * Runs the migrations that an object's SQLite lacks, in one transaction. The list is append-only. Where nothing was made
 * yet, `schema` is run in their place: what all of them lead to.
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

/** The last one is noted; earlier releases have noted each. */
function migrationsDone(sql: SqlStorage): number {
  return sql.exec<{ done: number }>("SELECT coalesce(max(id) + 1, 0) AS done FROM migrations").one()
    .done;
}
