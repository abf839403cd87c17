import type { StoredCheckpoint, WritesPut } from "../../../graph-runtime/checkpoint-port.ts";
import { concatBytes } from "../../../lib/bytes.ts";
import { MAX_PACKED_BYTES, pack, unpackValues } from "./packed-values.ts";
import { byteParts } from "./row-parts.ts";

type WriteRow = {
  task_path: string;
  task_id: string;
  idx: number;
  part: number;
  channel: string;
  type: string;
  data: ArrayBuffer;
  count: number | null;
};

type Write = WritesPut["writes"][number];

type Stored = StoredCheckpoint["writes"][number];

/** The numbers of the writes that were made to a table that was empty. */
export class KnownWrites {
  readonly #numbers = new Map<string, Set<number>>();

  of({ ns, checkpoint_id, task_id }: WritesPut): Set<number> {
    const key = JSON.stringify([ns, checkpoint_id, task_id]);
    const numbers = this.#numbers.get(key) ?? new Set();
    this.#numbers.set(key, numbers);
    return numbers;
  }
}

/**
 * Pending writes of tasks. The writes that a task made together share a row under the first of their numbers,
 * unless they are large.
 */
export class WriteTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** `known` has what a transaction has written so far if the table was empty before; without it, the table is read. */
  put(put: WritesPut, runId: string | null, known: KnownWrites | null): void {
    // A task's ordinary writes are stored once; its special ones (negative numbers) replace the earlier ones.
    const special = put.writes.filter(([idx]) => idx < 0);
    for (const write of special) {
      this.#delete(put, write[0]);
      this.#insert(put, write, runId);
    }
    if (special.length === put.writes.length) return;
    const numbers = known?.of(put) ?? this.#numbersOf(put);
    const added = put.writes.filter(([idx]) => {
      const isNew = idx >= 0 && !numbers.has(idx);
      numbers.add(idx);
      return isNew;
    });
    if (isRow(added)) this.#insertTogether(put, added, runId);
    else for (const write of added) this.#insert(put, write, runId);
  }

  /** Returns the writes in the order in which LangGraph applies those of a superstep. */
  of(ns: string, checkpointId: string): Stored[] {
    const rows = this.#sql
      .exec<WriteRow>(
        `SELECT task_path, task_id, idx, part, channel, type, data, count FROM writes
           WHERE ns = ? AND checkpoint_id = ? ORDER BY task_path, task_id, idx, part`,
        ns,
        checkpointId,
      )
      .toArray();
    const writes: Stored[] = [];
    for (const { task_id, part, channel, type, data, count } of rows) {
      const bytes = new Uint8Array(data);
      const previous = writes.at(-1);
      if (count !== null) {
        for (const [name, value] of unpackValues(data)) writes.push([task_id, name, value]);
      } else if (part > 0 && previous !== undefined) {
        previous[2][1] = concatBytes([previous[2][1], bytes]);
      } else writes.push([task_id, channel, [type, bytes]]);
    }
    return writes;
  }

  #numbersOf({ ns, checkpoint_id, task_id }: WritesPut): Set<number> {
    const rows = this.#sql.exec<{ idx: number; count: number | null }>(
      "SELECT idx, count FROM writes WHERE ns = ? AND checkpoint_id = ? AND task_id = ? AND part = 0",
      ns,
      checkpoint_id,
      task_id,
    );
    const numbers = new Set<number>();
    for (const { idx, count } of rows) {
      for (let index = 0; index < (count ?? 1); index += 1) numbers.add(idx + index);
    }
    return numbers;
  }

  #delete({ ns, checkpoint_id, task_id }: WritesPut, idx: number): void {
    this.#sql.exec(
      "DELETE FROM writes WHERE ns = ? AND checkpoint_id = ? AND task_id = ? AND idx = ?",
      ns,
      checkpoint_id,
      task_id,
      idx,
    );
  }

  #insert(put: WritesPut, [idx, channel, [type, data]]: Write, runId: string | null): void {
    for (const [part, bytes] of byteParts(data).entries()) {
      this.#insertRow(put, { idx, part, channel, type, bytes, count: null }, runId);
    }
  }

  #insertTogether(put: WritesPut, writes: readonly Write[], runId: string | null): void {
    const bytes = pack(writes.map(([, channel, value]) => [channel, value]));
    const [[idx] = [0]] = writes;
    const row = { idx, part: 0, channel: "", type: "", bytes, count: writes.length };
    this.#insertRow(put, row, runId);
  }

  #insertRow(
    { ns, checkpoint_id, task_id, task_path }: WritesPut,
    row: Pick<WriteRow, "idx" | "part" | "channel" | "type" | "count"> & { bytes: Uint8Array },
    runId: string | null,
  ): void {
    this.#sql.exec(
      `INSERT INTO writes (ns, checkpoint_id, task_id, idx, part, task_path, run_id, channel, type, data, count)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ns,
      checkpoint_id,
      task_id,
      row.idx,
      row.part,
      task_path ?? "",
      runId,
      row.channel,
      row.type,
      row.bytes,
      row.count,
    );
  }
}

/** Whether the writes fit into one row: several of them, numbered consecutively, and small together. */
function isRow(writes: readonly Write[]): boolean {
  const [[first] = [0]] = writes;
  const bytes = writes.reduce((sum, [, , [, data]]) => sum + data.byteLength, 0);
  return (
    writes.length > 1 &&
    bytes <= MAX_PACKED_BYTES &&
    writes.every(([idx], index) => idx === first + index)
  );
}
