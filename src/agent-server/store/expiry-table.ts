import type { ItemPlace, ItemTtl } from "../../graph-runtime/store-operations.ts";

const MINUTE_MS = 60_000;

/**
 * A refresh extends an item's life by slightly more than its lifetime: by this fraction of it, up to this maximum.
 * So an item that is read constantly is not written constantly.
 */
const SLACK_PART = 1 / 20;
const MAX_SLACK_MS = MINUTE_MS;

/** Table of the times at which a store's items expire. Items that never expire have no row. */
export class ExpiryTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS expiries (
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        expires_at INTEGER NOT NULL,   -- epoch ms
        ttl_ms INTEGER NOT NULL,
        PRIMARY KEY (namespace, key)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS expiries_by_time ON expiries (expires_at);
    `);
  }

  /** Sets when an item that is stored now will expire. */
  set({ namespace, key }: ItemPlace, ttl: ItemTtl | undefined): void {
    if (ttl === undefined) return this.forget({ namespace, key });
    const ttlMs = Math.ceil(ttl.minutes * MINUTE_MS);
    this.#sql.exec(
      `INSERT INTO expiries (namespace, key, expires_at, ttl_ms) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (namespace, key) DO UPDATE SET expires_at = ?3, ttl_ms = ?4`,
      namespace,
      key,
      Date.now() + ttlMs,
      ttlMs,
    );
  }

  forget({ namespace, key }: ItemPlace): void {
    this.#sql.exec("DELETE FROM expiries WHERE namespace = ? AND key = ?", namespace, key);
  }

  /** Gives an item that was read its full lifetime again. */
  refresh({ namespace, key }: ItemPlace): void {
    this.#sql.exec(
      `UPDATE expiries SET expires_at = ?3 + ttl_ms + CAST(min(ttl_ms * ?4, ?5) AS INTEGER)
       WHERE namespace = ?1 AND key = ?2 AND expires_at < ?3 + ttl_ms`,
      namespace,
      key,
      Date.now(),
      SLACK_PART,
      MAX_SLACK_MS,
    );
  }

  isExpired({ namespace, key }: ItemPlace): boolean {
    const rows = this.#sql.exec(
      "SELECT 1 FROM expiries WHERE namespace = ? AND key = ? AND expires_at <= ?",
      namespace,
      key,
      Date.now(),
    );
    return !rows.next().done;
  }

  /** Returns the earliest expiry time, which may have passed already; null if no item expires. */
  next(): number | null {
    const [row] = this.#sql
      .exec<{ at: number | null }>("SELECT min(expires_at) AS at FROM expiries")
      .toArray();
    return row?.at ?? null;
  }

  /** Returns expired items with the size of their values in bytes, those that expired first at the front. */
  expired(limit: number): (ItemPlace & { bytes: number })[] {
    return this.#sql
      .exec<ItemPlace & { bytes: number }>(
        `SELECT expiries.namespace, expiries.key, coalesce(octet_length(value), 0) AS bytes
         FROM expiries LEFT JOIN items USING (namespace, key)
         WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
        Date.now(),
        limit,
      )
      .toArray();
  }
}
