import type { ThreadTables } from "./thread-tables.ts";

const TABLE = "turns";

/** An entry in the sequence of what happened on a thread: a run that started, or a state update outside of a run. */
export type ThreadTurn = { id: number; run_seq: number | null };

/**
 * The turns of a thread that has readers, or had some until a while ago; for other threads nothing is recorded.
 * Ids only grow, even after all turns were deleted, and have no gaps: an insertion that is ignored would use one
 * up.
 */
export class TurnTable {
  readonly #sql: SqlStorage;
  readonly #tables: ThreadTables;

  constructor(sql: SqlStorage, tables: ThreadTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  isEmpty(): boolean {
    return this.newest() === null;
  }

  newest(): ThreadTurn | null {
    return this.#first("SELECT id, run_seq FROM turns ORDER BY id DESC LIMIT 1");
  }

  next(after: number): ThreadTurn | null {
    return this.#first("SELECT id, run_seq FROM turns WHERE id > ? ORDER BY id LIMIT 1", after);
  }

  get(id: number): ThreadTurn | null {
    return this.#first("SELECT id, run_seq FROM turns WHERE id = ?", id);
  }

  ofRun(runSeq: number): ThreadTurn | null {
    return this.#first("SELECT id, run_seq FROM turns WHERE run_seq = ?", runSeq);
  }

  /** Adds the turn of a run. A run has one turn, however many attempts it takes. */
  addRun(runSeq: number, now: number): void {
    if (this.ofRun(runSeq) !== null) return;
    this.#tables.need(TABLE);
    this.#sql.exec("INSERT INTO turns (run_seq, at) VALUES (?, ?)", runSeq, now);
  }

  addUpdate(now: number): number {
    this.#tables.need(TABLE);
    return this.#sql
      .exec<{ id: number }>("INSERT INTO turns (at) VALUES (?) RETURNING id", now)
      .one().id;
  }

  /** Adds turns for runs that started before the thread had readers, and whose events are still kept. */
  addKeptRuns(now: number): void {
    this.#tables.need(TABLE);
    this.#sql.exec(
      `INSERT INTO turns (run_seq, at)
         SELECT seq, ? FROM runs WHERE started_at IS NOT NULL AND (status = 'running' OR expires_at IS NOT NULL)
           AND seq NOT IN (SELECT run_seq FROM turns WHERE run_seq IS NOT NULL)
         ORDER BY started_at, seq`,
      now,
    );
  }

  /** Deletes the turns that have nothing left to show, and returns the ids of the updates among them. */
  deleteOld(before: number): number[] {
    if (!this.#tables.has(TABLE)) return [];
    this.#sql.exec(
      `DELETE FROM turns WHERE run_seq IS NOT NULL AND run_seq NOT IN
         (SELECT seq FROM runs WHERE status IN ('pending', 'running') OR expires_at IS NOT NULL)`,
    );
    return this.#sql
      .exec<{ id: number }>(
        "DELETE FROM turns WHERE run_seq IS NULL AND at <= ? RETURNING id",
        before,
      )
      .toArray()
      .map(({ id }) => id);
  }

  #first(query: string, ...bindings: number[]): ThreadTurn | null {
    if (!this.#tables.has(TABLE)) return null;
    return this.#sql.exec<ThreadTurn>(query, ...bindings).toArray()[0] ?? null;
  }
}
