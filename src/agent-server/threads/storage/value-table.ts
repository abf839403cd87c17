import type { Typed } from "../../../graph-runtime/checkpoint-port.ts";
import { concatBytes } from "../../../lib/bytes.ts";
import { unpackValues } from "./packed-values.ts";
import { byteParts } from "./row-parts.ts";

type ValueRow = { type: string; data: ArrayBuffer };

/** A checkpoint that is being removed, with the values in its row. */
export type RemovedCheckpoint = { ns: string; id: string; packed: ArrayBuffer | null };

/** Values of channels that are not in the row of the checkpoint that changed them. */
export class ValueTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  set(ns: string, checkpointId: string, channel: string, [type, data]: Typed): void {
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

  get(ns: string, checkpointId: string, channel: string): Typed | null {
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

  /** Takes over the values of checkpoints whose rows go: others may inherit them. In the same transaction. */
  keepOf(removed: readonly RemovedCheckpoint[]): void {
    for (const { ns, id, packed } of removed) {
      if (packed === null) continue;
      for (const [channel, value] of unpackValues(packed)) this.set(ns, id, channel, value);
    }
  }
}
