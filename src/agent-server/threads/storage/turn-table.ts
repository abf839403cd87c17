/** What happened on a thread, one after the other: a run that began, or an update of the state from outside of a run. */
export type Turn = { id: number; run_seq: number | null };

/**
 * The turns of a thread that somebody follows, or has followed until a while ago. Their ids only grow, also after all
 * were deleted, and leave no gap: an insertion that is ignored would take one. Of a thread that nobody follows nothing
 * is noted.
 */
export class TurnTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  isEmpty(): boolean {
    return this.newest() === null;
  }

  newest(): Turn | null {
    return this.#first("SELECT id, run_seq FROM turns ORDER BY id DESC LIMIT 1");
  }

  next(after: number): Turn | null {
    return this.#first("SELECT id, run_seq FROM turns WHERE id > ? ORDER BY id LIMIT 1", after);
  }

  get(id: number): Turn | null {
    return this.#first("SELECT id, run_seq FROM turns WHERE id = ?", id);
  }

  ofRun(runSeq: number): Turn | null {
    return this.#first("SELECT id, run_seq FROM turns WHERE run_seq = ?", runSeq);
  }

  /** A run has one turn, however many attempts it takes. */
  addRun(runSeq: number, now: number): void {
    if (this.ofRun(runSeq) !== null) return;
    this.#sql.exec("INSERT INTO turns (run_seq, at) VALUES (?, ?)", runSeq, now);
  }

  addUpdate(now: number): number {
    return this.#sql
      .exec<{ id: number }>("INSERT INTO turns (at) VALUES (?) RETURNING id", now)
      .one().id;
  }

  /** Notes the runs that began before anybody followed the thread, and whose events are still there. */
  addKeptRuns(now: number): void {
    this.#sql.exec(
      `INSERT INTO turns (run_seq, at)
         SELECT seq, ? FROM runs WHERE started_at IS NOT NULL AND (status = 'running' OR expires_at IS NOT NULL)
           AND seq NOT IN (SELECT run_seq FROM turns WHERE run_seq IS NOT NULL)
         ORDER BY started_at, seq`,
      now,
    );
  }

  /** Deletes the turns of which nothing is left to be shown, and tells which updates were among them. */
  deleteOld(before: number): number[] {
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

  #first(query: string, ...bindings: number[]): Turn | null {
    return this.#sql.exec<Turn>(query, ...bindings).toArray()[0] ?? null;
  }
}
