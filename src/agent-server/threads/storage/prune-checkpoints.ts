import type { RemovedCheckpoint, ValueTable } from "./value-table.ts";

/**
 * Maximum checkpoints and channel values that one turn removes, which takes some milliseconds of the object's
 * time.
 */
const TURN_CHECKPOINTS = 200;
const TURN_VALUES = 500;

type Kept = { ns: string; id: string };

/**
 * Removes all checkpoints except those that the thread continues from: the newest root checkpoint, and the newest
 * of each subgraph that may still need it. The subgraph of a task has its own namespace, which contains the task's
 * id. It is needed while the task is pending, which is if it was written after the newest root checkpoint. A
 * subgraph that keeps its state across tasks has a namespace without such an id.
 */
export class PruneCheckpoints {
  readonly #sql: SqlStorage;
  readonly #values: ValueTable;

  constructor(sql: SqlStorage, values: ValueTable) {
    this.#sql = sql;
    this.#values = values;
  }

  /**
   * Removes as much as one turn has time for, and returns whether it found anything. Must be called in a
   * transaction and while no run is in flight, because a run may continue from an older checkpoint.
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

  /**
   * Removes checkpoints with their pending writes. Values that others inherit are kept until no checkpoint is left
   * to be removed.
   */
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
