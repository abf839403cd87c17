import { getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/** Any table of D1. */
export type AnyTable = SQLiteTable;

/**
 * A table whose rows are pieces of durable work. It has three special columns: `due_at`, when the row is to be
 * looked at, or while it is leased, when the lease ends; `lease`, a text chosen by the process that works on the
 * row; and `updated_at`. An index on `due_at` finds due rows. The table has no booleans, because rows are returned
 * with SQLite's own types.
 */
export type WorkTable<Key, Table extends SQLiteTable> = {
  table: Table;
  /** The columns of the table's key, by their names in the code. */
  key: { readonly [Name in keyof Key]: keyof RowOf<Table> & string };
  /** An SQL condition that holds while there is something to do. */
  isOpen: string;
  /** SQL assignments that are also made when a row is leased; `?1` is the time. */
  onTake: readonly string[];
};

export type RowOf<Table extends SQLiteTable> = Table["$inferSelect"];

/** The right to work on a row, which belongs to the process that chose `lease`. */
export type HeldRow<Key> = Key & { lease: string };

/** Leases a due row that is free or whose lease has expired. Returns undefined when the row cannot be leased. */
export async function takeLease<Key extends object, Table extends SQLiteTable>(
  db: D1Database,
  work: WorkTable<Key, Table>,
  held: HeldRow<Key>,
  { now, until }: { now: number; until: number },
): Promise<RowOf<Table> | undefined> {
  const taken = ["lease = ?2", "due_at = ?3", "updated_at = ?1", ...work.onTake];
  const row = await db
    .prepare(
      `UPDATE ${getTableName(work.table)} SET ${taken.join(", ")}
       WHERE ${isKey(work, 4)} AND ${work.isOpen} AND due_at <= ?1 RETURNING *`,
    )
    .bind(now, held.lease, until, ...keyValues(work, held))
    .first<RowOf<Table>>();
  return row ?? undefined;
}

/** Returns false when the lease was taken away, or nothing is left to do. */
export async function renewLease<Key extends object, Table extends SQLiteTable>(
  db: D1Database,
  work: WorkTable<Key, Table>,
  held: HeldRow<Key>,
  until: number,
): Promise<boolean> {
  return isChanged(
    db
      .prepare(`UPDATE ${getTableName(work.table)} SET due_at = ?1 WHERE ${isHeld(work, 2)}`)
      .bind(until, held.lease, ...keyValues(work, held)),
  );
}

/**
 * Releases a lease; the row is due again at `dueAt`. Returns false when the lease was taken away, or nothing is
 * left to do.
 */
export async function releaseLease<Key extends object, Table extends SQLiteTable>(
  db: D1Database,
  work: WorkTable<Key, Table>,
  held: HeldRow<Key>,
  { dueAt, now }: { dueAt: number; now: number },
): Promise<boolean> {
  return isChanged(
    db
      .prepare(
        `UPDATE ${getTableName(work.table)} SET lease = NULL, due_at = ?1, updated_at = ?2 WHERE ${isHeld(work, 3)}`,
      )
      .bind(dueAt, now, held.lease, ...keyValues(work, held)),
  );
}

/** Returns due rows of all workspaces whose lease is free or expired, longest waiting first. */
export async function listDue<Key extends object, Table extends SQLiteTable>(
  db: D1Database,
  work: WorkTable<Key, Table>,
  now: number,
  limit: number,
): Promise<Key[]> {
  const columns = Object.entries(work.key).map(([name, column]) => `${column} AS ${name}`);
  const { results } = await db
    .prepare(
      `SELECT ${columns.join(", ")} FROM ${getTableName(work.table)}
       WHERE ${work.isOpen} AND due_at IS NOT NULL AND due_at <= ?1 ORDER BY due_at LIMIT ?2`,
    )
    .bind(now, limit)
    .all<Key>();
  return results;
}

/** The lease is bound as parameter `first`, followed by the values of the key. */
function isHeld<Key, Table extends SQLiteTable>(
  work: WorkTable<Key, Table>,
  first: number,
): string {
  return `lease = ?${first} AND ${isKey(work, first + 1)} AND ${work.isOpen}`;
}

function isKey<Key, Table extends SQLiteTable>(
  { key }: WorkTable<Key, Table>,
  first: number,
): string {
  const columns = Object.values<string>(key);
  return columns.map((column, index) => `${column} = ?${first + index}`).join(" AND ");
}

function keyValues<Key extends object, Table extends SQLiteTable>(
  { key }: WorkTable<Key, Table>,
  of: Key,
): unknown[] {
  const values = new Map<string, unknown>(Object.entries(of));
  return Object.keys(key).map((name) => values.get(name));
}

/** Runs a statement; returns true if it changed its row. */
export async function isChanged(statement: D1PreparedStatement): Promise<boolean> {
  return (await statement.run()).meta.changes === 1;
}
