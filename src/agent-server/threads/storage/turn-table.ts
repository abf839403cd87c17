import type { ThreadTables } from "./thread-tables.ts";

const TABLE = "turns";

/** What happened on a thread, one after the other: a run that began, or an update of the state from outside of a run. */
export type ThreadTurn = { id: number; run_seq: number | null };

/**
 * The turns of a thread that somebody follows, or has followed until a while ago. Their ids only grow, also after all
 * were deleted, and leave no gap: an insertion that is ignored would take one. Of a thread that nobody follows nothing
 * is noted.
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

  /** A run has one turn, however many attempts it takes. */
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

  /** Notes the runs that began before anybody followed the thread, and whose events are still there. */
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

  /** Deletes the turns of which nothing is left to be shown, and tells which updates were among them. */
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
