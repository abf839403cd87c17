import { add, counts, countStatement, shares } from "./tally.ts";

/** Counts what an object does with its storage. Everybody holds the same storage, so its own members are replaced. */
export function countStorage(storage: DurableObjectStorage, objectClass: string): void {
  const { sql } = storage;
  let isWriting = false;
  const wrote = (): void => {
    if (isWriting) return;
    isWriting = true;
    counts.commits += 1;
    // What one turn writes is one transaction.
    setTimeout(() => (isWriting = false), 0);
  };
  let bytes = sql.databaseSize;
  const grew = (): void => {
    add(shares.bytes, objectClass, sql.databaseSize - bytes);
    bytes = sql.databaseSize;
  };
  const exec = sql.exec.bind(sql);
  sql.exec = <T extends Record<string, SqlStorageValue>>(
    query: string,
    ...bindings: unknown[]
  ): SqlStorageCursor<T> => {
    const cursor = exec<T>(query, ...bindings);
    counts.statements += 1;
    if (cursor.rowsWritten > 0) {
      wrote();
      grew();
    }
    // By then whoever asked has read the rows, apart from the few who read as they go.
    queueMicrotask(() => {
      counts.rowsWritten += cursor.rowsWritten;
      counts.rowsRead += cursor.rowsRead;
      countStatement(objectClass, query, cursor.rowsWritten);
    });
    return cursor;
  };
  const setAlarm = storage.setAlarm.bind(storage);
  storage.setAlarm = (...args) => {
    counts.alarmsSet += 1;
    wrote();
    return setAlarm(...args);
  };
}
