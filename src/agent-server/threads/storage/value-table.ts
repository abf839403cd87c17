import type { SerializedValue } from "../../../graph-runtime/checkpoint-port.ts";
import { concatBytes } from "../../../lib/bytes.ts";
import { unpackValues } from "./packed-values.ts";
import { byteParts } from "./row-parts.ts";
import type { ThreadTables } from "./thread-tables.ts";

type ValueRow = { type: string; data: ArrayBuffer };

/** A checkpoint that is being removed, with the values in its row. */
export type RemovedCheckpoint = { ns: string; id: string; packed: ArrayBuffer | null };

const TABLE = "channel_values";

/** Channel values that are not in the row of the checkpoint that changed them. */
export class ValueTable {
  readonly #sql: SqlStorage;
  readonly #tables: ThreadTables;

  constructor(sql: SqlStorage, tables: ThreadTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  set(ns: string, checkpointId: string, channel: string, [type, data]: SerializedValue): void {
    this.#tables.need(TABLE);
    for (const [part, bytes] of byteParts(data).entries()) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO channel_values (ns, checkpoint_id, channel, part, type, data) VALUES (?, ?, ?, ?, ?, ?)",
        ns,
        checkpointId,
        channel,
        part,
        type,
        bytes,
      );
    }
  }

  get(ns: string, checkpointId: string, channel: string): SerializedValue | null {
    if (!this.#tables.has(TABLE)) return null;
    const rows = this.#sql
      .exec<ValueRow>(
        "SELECT type, data FROM channel_values WHERE ns = ? AND checkpoint_id = ? AND channel = ? ORDER BY part",
        ns,
        checkpointId,
        channel,
      )
      .toArray();
    const [first] = rows;
    if (first === undefined) return null;
    return [first.type, concatBytes(rows.map((row) => new Uint8Array(row.data)))];
  }

  /**
   * Stores the values of checkpoints whose rows are deleted, because others may inherit them. Must be called in
   * the same transaction.
   */
  keepOf(removed: readonly RemovedCheckpoint[]): void {
    for (const { ns, id, packed } of removed) {
      if (packed === null) continue;
      for (const [channel, value] of unpackValues(packed)) this.set(ns, id, channel, value);
    }
  }

  /**
   * Deletes the values of deleted checkpoints, unless others inherit them. `ids` is the JSON text of the
   * checkpoints' ids. A checkpoint that inherits a value is newer than the one that wrote it, and those are newer
   * than `start`.
   */
  deleteOf(ns: string, start: string, ids: string): void {
    if (!this.#tables.has(TABLE)) return;
    this.#sql.exec(
      `DELETE FROM channel_values WHERE ns = ?1
         AND checkpoint_id IN (SELECT value FROM json_each(?3))
         AND (checkpoint_id, channel) NOT IN
           (SELECT j.value, j.key FROM checkpoints c, json_each(c.channels) j
            WHERE c.ns = ?1 AND c.id > ?2)`,
      ns,
      start,
      ids,
    );
  }

  /** Deletes some rows of values that no checkpoint refers to; returns false if there were none. */
  deleteUnused(limit: number): boolean {
    if (!this.#tables.has(TABLE)) return false;
    const { rowsWritten } = this.#sql.exec(
      `DELETE FROM channel_values WHERE (ns, checkpoint_id, channel, part) IN
         (SELECT ns, checkpoint_id, channel, part FROM channel_values
          WHERE (ns, checkpoint_id, channel) NOT IN
            (SELECT c.ns, j.value, j.key FROM checkpoints c, json_each(c.channels) j) LIMIT ?)`,
      limit,
    );
    return rowsWritten > 0;
  }
}
