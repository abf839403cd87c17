import type { RemovedCheckpoint, ValueTable } from "./value-table.ts";

/** Checkpoints that one turn removes, and rows of channel values: some milliseconds of the object's time. */
const TURN_CHECKPOINTS = 200;
const TURN_VALUES = 500;

type Kept = { ns: string; id: string };

/**
 * Removes all checkpoints but those that the thread goes on from: the newest of the root, and of each subgraph the
 * newest where it may still be needed. A task's subgraph has a namespace of its own, with the task's id: it is needed
 * while the task is pending, so when it was written after the newest checkpoint of the root. A subgraph that keeps a
 * state across tasks has a namespace without such an id.
 */
export class PruneCheckpoints {
  readonly #sql: SqlStorage;
  readonly #values: ValueTable;

  constructor(sql: SqlStorage, values: ValueTable) {
    this.#sql = sql;
    this.#values = values;
  }

  /**
   * Removes as much as one turn has time for, and tells whether it found anything. Call it in a transaction,
   * and while no run is in flight: a run may go on from an older checkpoint.
   */
  turn(): boolean {
    const kept = this.#kept();
    const text = JSON.stringify(kept.map(({ ns, id }) => [ns, id]));
    return this.#removeCheckpoints(text) || this.#removeRest();
  }

  #kept(): Kept[] {
    const newest = this.#sql
      .exec<Kept>("SELECT ns, max(id) AS id FROM checkpoints GROUP BY ns")
      .toArray();
    const root = newest.find(({ ns }) => ns === "")?.id ?? "";
    return newest.filter(({ ns, id }) => !ns.includes(":") || id > root);
  }

  /** A checkpoint with its pending writes. What others inherit of it stays until none is left to be removed. */
  #removeCheckpoints(kept: string): boolean {
    const removed = this.#sql
      .exec<RemovedCheckpoint>(
        `DELETE FROM checkpoints WHERE (ns, id) IN (SELECT ns, id FROM checkpoints
           WHERE (ns, id) NOT IN (${KEPT}) LIMIT ?) RETURNING ns, id, packed`,
        kept,
        TURN_CHECKPOINTS,
      )
      .toArray();
    this.#values.keepOf(removed);
    // Before checkpoint format 4 the parent's writes are a part of the checkpoint.
    this.#sql.exec(
      `DELETE FROM writes WHERE (ns, checkpoint_id) IN
           (SELECT value ->> 0, value ->> 1 FROM json_each(?1))
         AND (ns, checkpoint_id) NOT IN
           (SELECT ns, parent_id FROM checkpoints WHERE parent_id IS NOT NULL AND format < 4)`,
      JSON.stringify(removed.map(({ ns, id }) => [ns, id])),
    );
    return removed.length > 0;
  }

  #removeRest(): boolean {
    if (this.#values.deleteUnused(TURN_VALUES)) return true;
    this.#sql.exec(
      "UPDATE checkpoints SET parent_id = NULL WHERE format >= 4 AND parent_id IS NOT NULL AND (ns, parent_id) NOT IN (SELECT ns, id FROM checkpoints)",
    );
    this.#sql.exec(
      "DELETE FROM run_starts WHERE run_id NOT IN (SELECT run_id FROM checkpoints WHERE run_id IS NOT NULL UNION SELECT run_id FROM writes WHERE run_id IS NOT NULL)",
    );
    return false;
  }
}

const KEPT = "SELECT value ->> 0, value ->> 1 FROM json_each(?)";
