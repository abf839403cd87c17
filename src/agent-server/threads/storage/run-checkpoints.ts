import type { CheckpointBatch } from "../../../graph-runtime/checkpoint-port.ts";
import type { RemovedCheckpoint, ValueTable } from "./value-table.ts";

/**
 * Records which checkpoints and pending writes of a thread belong to a run. In each namespace they are at or after
 * the id that is stored when the run first writes there, so that no earlier rows have to be examined.
 */
export class RunCheckpoints {
  readonly #sql: SqlStorage;
  readonly #values: ValueTable;

  constructor(sql: SqlStorage, values: ValueTable) {
    this.#sql = sql;
    this.#values = values;
  }

  /** Records where the run writes. Must be called in the transaction that writes. */
  note(batch: CheckpointBatch, runId: string): void {
    const firsts = new Map<string, string>();
    for (const op of batch) {
      const { ns, id } = "put" in op ? op.put : { ns: op.writes.ns, id: op.writes.checkpoint_id };
      const first = firsts.get(ns);
      if (first === undefined || id < first) firsts.set(ns, id);
    }
    for (const [ns, id] of firsts) {
      this.#sql.exec(
        `INSERT INTO run_starts (run_id, ns, checkpoint_id) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET checkpoint_id = excluded.checkpoint_id
         WHERE excluded.checkpoint_id < run_starts.checkpoint_id`,
        runId,
        ns,
        id,
      );
    }
  }

  /**
   * Deletes the run's checkpoints and writes, except values that other runs' checkpoints inherit. Must be called
   * in a transaction.
   */
  delete(runId: string): void {
    const starts = this.#sql
      .exec<{ ns: string; start: string }>(
        "SELECT ns, checkpoint_id AS start FROM run_starts WHERE run_id = ?",
        runId,
      )
      .toArray();
    for (const { ns, start } of starts) this.#deleteFrom(ns, start, runId);
    this.#sql.exec("DELETE FROM run_starts WHERE run_id = ?", runId);
  }

  #deleteFrom(ns: string, start: string, runId: string): void {
    const deleted = this.#sql
      .exec<RemovedCheckpoint>(
        "DELETE FROM checkpoints WHERE ns = ? AND id >= ? AND run_id = ? RETURNING ns, id, packed",
        ns,
        start,
        runId,
      )
      .toArray();
    this.#values.keepOf(deleted);
    const ids = JSON.stringify(deleted.map(({ id }) => id));
    this.#sql.exec(
      `DELETE FROM writes WHERE ns = ? AND checkpoint_id >= ?
         AND (run_id = ? OR checkpoint_id IN (SELECT value FROM json_each(?)))`,
      ns,
      start,
      runId,
      ids,
    );
    this.#values.deleteOf(ns, start, ids);
  }
}
