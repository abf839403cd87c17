import { add, counts, countStatement, shares } from "./tally.ts";

/**
 * Counts the storage operations of an object. All code of the object shares the same storage, so its members are
 * replaced in place.
 */
export function countStorage(storage: DurableObjectStorage, objectClass: string): void {
  const { sql } = storage;
  let isWriting = false;
  const wrote = (): void => {
    if (isWriting) return;
    isWriting = true;
    counts.commits += 1;
    // All writes of one turn are one transaction.
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
    // By the time this microtask runs, most callers have read all rows; callers that iterate lazily have not.
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
