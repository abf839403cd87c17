import { getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/** Any table of D1. */
export type AnyTable = SQLiteTable;

/**
 * A table whose rows are pieces of durable work. Besides its own columns it has three: `due_at`, when somebody is to
 * look at the row, which while somebody works on it is when that lease ends; `lease`, a text that whoever works on it
 * has made up; and `updated_at`. An index on `due_at` finds what is due. It has no booleans, because rows come as
 * SQLite has them.
 */
export type WorkTable<Key, Table extends SQLiteTable> = {
  table: Table;
  /** The columns of the table's key, by what they are called in the code. */
  key: { readonly [Name in keyof Key]: keyof RowOf<Table> & string };
  /** A condition, as SQL: it holds as long as there is something to do. */
  isOpen: string;
  /** Assignments, as SQL, that are made when a row is taken, too; `?1` is the time. */
  onTake: readonly string[];
};

export type RowOf<Table extends SQLiteTable> = Table["$inferSelect"];

/** The right to work on a row, of whoever has made up the text. */
export type HeldRow<Key> = Key & { lease: string };

/** Takes a row that is due, from nobody or from one who let it expire. Undefined when there is nothing to take. */
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

/** Returns false when the lease has been taken away, or there is nothing to work on any more. */
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

/** Gives a lease back: the row is due again at `dueAt`. False as for `renewLease`. */
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

/** What is due and that nobody works on, in all workspaces, the longest waiting first. */
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

/** The lease is parameter `first`, and the key's values follow it. */
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

/** Whether a statement has changed its row. */
export async function isChanged(statement: D1PreparedStatement): Promise<boolean> {
  return (await statement.run()).meta.changes === 1;
}
