import type { RunRow, ThreadRunSelection, RunStatus } from "./run-row.ts";

export type NewRun = Pick<
  RunRow,
  | "seq"
  | "run_id"
  | "assistant_id"
  | "graph_id"
  | "multitask_strategy"
  | "metadata"
  | "created_at"
  | "principal"
  | "revision_id"
  | "resumable"
  | "webhook"
  | "kwargs"
> & { now: number };

/**
 * The start of a run. `place` is where its events begin among those of the thread, and is used only for the first
 * start. Ids of events before `nextEvent` are never assigned again.
 */
export type RunStart = { place: number; nextEvent: number };

const COLUMNS = [
  "seq",
  "run_id",
  "assistant_id",
  "graph_id",
  "status",
  "multitask_strategy",
  "metadata",
  "resumable",
  "created_at",
  "updated_at",
  "principal",
  "revision_id",
  "webhook",
  "kwargs",
  "attempt",
  "started_at",
  "first_seq",
  "next_event",
] as const satisfies (keyof RunRow)[];

/** It returns nothing, because the row is known, and each thread prepares its statements anew. */
const INSERT = `INSERT INTO runs (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})`;

/**
 * The runs of one thread: its queue and its past. The runs in flight, and the next expiry of events, are also
 * cached in memory, because every step of every run needs them. `reset` must be called after a failed transaction.
 */
export class RunTable {
  readonly #sql: SqlStorage;
  #inFlight: RunRow[] | null = null;
  /** The earliest time at which events expire; undefined if it must be read. */
  #nextExpiry: number | null | undefined;
  /** Whether the table is known to be empty without reading it. */
  #isEmpty = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  startEmpty(): void {
    this.#inFlight = [];
    this.#nextExpiry = null;
    this.#isEmpty = true;
  }

  reset(): void {
    this.#inFlight = null;
    this.#nextExpiry = undefined;
    this.#isEmpty = false;
  }

  /** Inserts a run. With `start`, it is inserted as a run that has started. */
  insert(run: NewRun, start: RunStart | null = null): RunRow {
    const inFlight = this.inFlight();
    this.#isEmpty = false;
    const row = newRow(run, start);
    this.#sql.exec(INSERT, ...COLUMNS.map((column) => row[column]));
    this.#inFlight = [...inFlight, row].toSorted(byTurn);
    return row;
  }

  get(runId: string): RunRow | null {
    return this.#first("SELECT * FROM runs WHERE run_id = ?", runId);
  }

  ofSeq(seq: number): RunRow | null {
    return this.#first("SELECT * FROM runs WHERE seq = ?", seq);
  }

  /** Returns the ids of runs, the newest first. */
  list(options: { limit: number; offset: number; status: RunStatus | null }): string[] {
    return this.#sql
      .exec<{ run_id: string }>(
        `SELECT run_id FROM runs WHERE (?1 IS NULL OR status = ?1)
         ORDER BY seq DESC LIMIT ?2 OFFSET ?3`,
        options.status,
        options.limit,
        options.offset,
      )
      .toArray()
      .map((row) => row.run_id);
  }

  newest(): RunRow | null {
    return this.#first("SELECT * FROM runs ORDER BY seq DESC LIMIT 1");
  }

  /** Returns the runs that have not ended, in the order of their execution: the running one first. */
  inFlight(): readonly RunRow[] {
    this.#inFlight ??= this.#sql
      .exec<RunRow>("SELECT * FROM runs WHERE status IN ('pending', 'running')")
      .toArray()
      .toSorted(byTurn);
    return this.#inFlight;
  }

  /** Returns the selected runs. Runs that are selected by id may have ended. */
  select(selection: ThreadRunSelection): RunRow[] {
    if ("run_ids" in selection) {
      const ids = [...new Set(selection.run_ids)];
      return ids.map((id) => this.get(id)).filter((run) => run !== null);
    }
    const { status } = selection;
    return this.inFlight().filter((run) => status === "all" || run.status === status);
  }

  isInFlight(seq: number): boolean {
    return this.inFlight().some((run) => run.seq === seq);
  }

  running(): RunRow | null {
    return this.inFlight().find((run) => run.status === "running") ?? null;
  }

  /** Returns the next run to execute, due or not: runs that are due earlier overtake delayed ones. */
  nextPending(): RunRow | null {
    return this.inFlight().find((run) => run.status === "pending") ?? null;
  }

  start(seq: number, { place, nextEvent, now }: RunStart & { now: number }): RunRow {
    const row = this.#sql
      .exec<RunRow>(
        `UPDATE runs SET status = 'running', attempt = attempt + 1, updated_at = ?1,
           started_at = coalesce(started_at, ?1), first_seq = coalesce(first_seq, ?3),
           next_event = ?4
         WHERE seq = ?2 RETURNING *`,
        now,
        seq,
        place,
        nextEvent,
      )
      .one();
    this.#inFlight = [...this.#others(seq), row].toSorted(byTurn);
    return row;
  }

  /**
   * Ends a run. `stop` is the result of a run that stopped at an interrupt, whose checkpoint will change when it
   * is resumed. `nextEvent` is the number of its events; `expiresAt` is when they are deleted, null if they are
   * deleted already.
   */
  end(
    seq: number,
    end: Pick<RunRow, "status" | "error" | "stop"> & {
      now: number;
      nextEvent: number;
      expiresAt: number | null;
    },
  ): void {
    this.#sql.exec(
      `UPDATE runs SET status = ?1, error = ?2, stop = ?3, updated_at = ?4, ended_at = ?4,
         expires_at = ?5, principal = NULL, next_event = ?7 WHERE seq = ?6`,
      end.status,
      end.error,
      end.stop,
      end.now,
      end.expiresAt,
      seq,
      end.nextEvent,
    );
    this.#inFlight = this.#others(seq);
    // A run in flight has no expiry.
    if (end.expiresAt !== null) this.#nextExpiry = undefined;
  }

  /** Sets the webhook record of a run. The run must have ended. */
  setWebhook(seq: number, webhook: string): void {
    this.#sql.exec("UPDATE runs SET webhook = ? WHERE seq = ?", webhook, seq);
  }

  delete(seq: number): void {
    this.#sql.exec("DELETE FROM runs WHERE seq = ?", seq);
    this.#inFlight = this.#others(seq);
    this.#nextExpiry = undefined;
  }

  /**
   * Returns, among the runs whose events are kept, the last one whose events begin at or before `place`, or else
   * the first one after it; null if there is none.
   */
  keptAt(place: number): RunRow | null {
    return (
      this.#first(`${KEPT} AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1`, place) ??
      this.keptFrom(place)
    );
  }

  /** Returns the first run whose events begin at `place` or later, among those whose events are kept. */
  keptFrom(place: number): RunRow | null {
    return this.#first(`${KEPT} AND first_seq >= ? ORDER BY first_seq LIMIT 1`, place);
  }

  expired(now: number): RunRow[] {
    return this.#sql
      .exec<RunRow>("SELECT * FROM runs WHERE expires_at IS NOT NULL AND expires_at <= ?", now)
      .toArray();
  }

  nextExpiry(): number | null {
    if (this.#nextExpiry === undefined) {
      this.#nextExpiry = this.#sql
        .exec<{ at: number | null }>("SELECT min(expires_at) AS at FROM runs")
        .one().at;
    }
    return this.#nextExpiry;
  }

  /** Sets when the run's events are deleted; null if they are deleted already. */
  keepUntil(seq: number, expiresAt: number | null): void {
    this.#sql.exec("UPDATE runs SET expires_at = ? WHERE seq = ?", expiresAt, seq);
    this.#nextExpiry = undefined;
  }

  #others(seq: number): RunRow[] {
    return this.inFlight().filter((run) => run.seq !== seq);
  }

  #first(query: string, ...bindings: SqlStorageValue[]): RunRow | null {
    if (this.#isEmpty) return null;
    return this.#sql.exec<RunRow>(query, ...bindings).toArray()[0] ?? null;
  }
}

function newRow({ now, ...run }: NewRun, start: RunStart | null): RunRow {
  return {
    ...run,
    status: start === null ? "pending" : "running",
    updated_at: now,
    attempt: start === null ? 0 : 1,
    started_at: start === null ? null : now,
    first_seq: start?.place ?? null,
    next_event: start?.nextEvent ?? 0,
    ended_at: null,
    error: null,
    stop: null,
    expires_at: null,
  };
}

/** Selects runs that have started and whose events still exist. */
const KEPT =
  "SELECT * FROM runs WHERE first_seq IS NOT NULL AND (status = 'running' OR expires_at IS NOT NULL)";

function byTurn(left: RunRow, right: RunRow): number {
  if (left.status !== right.status) return left.status === "running" ? -1 : 1;
  return left.created_at - right.created_at || left.seq - right.seq;
}
