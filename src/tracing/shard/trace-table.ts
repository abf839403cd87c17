import { KEY_PARTS, startsBetween } from "../filter/run-key.ts";
import { readAttachments } from "../model/run-row.ts";
import { PAYLOAD_FIELDS } from "../model/run-write.ts";
import { fromStored, payloadPlaceSql } from "./stored-payload.ts";
import { StoredChildren } from "./stored-children.ts";

/** How long traces of each tier are kept after their first run arrived, in milliseconds. */
type RetentionTimes = { shortlivedMs: number; longlivedMs: number };

/** The bounds of start times in microseconds, inclusive. */
type StartBounds = { first: number; last: number };

/** The starts of the runs of traces, by trace id. */
export type TraceStarts = Map<string, StartBounds>;

/** `home` is the day of the trace's root if that is another day; `starts` is null if none of its runs arrived. */
export type NotedTrace = { starts: StartBounds | null; home: number | null };

type KnownTrace = { trace_id: string; first_start: number | null; last_start: number | null };

/** The traces of one shard and their expiry. */
export class TraceTable {
  readonly #sql: SqlStorage;
  readonly #times: RetentionTimes;

  constructor(sql: SqlStorage, times: RetentionTimes) {
    this.#sql = sql;
    this.#times = times;
  }

  /** Enters traces. Times are in microseconds. Returns the ids that are new here. */
  note(traces: ReadonlyMap<string, NotedTrace>, tier: string, now: number): string[] {
    const known = new Map(
      this.#sql
        .exec<KnownTrace>(
          `SELECT trace_id, first_start, last_start FROM traces
           WHERE trace_id IN (SELECT value FROM json_each(?))`,
          JSON.stringify([...traces.keys()]),
        )
        .toArray()
        .map((row) => [row.trace_id, row]),
    );
    const added: [string, number | null, number | null, number | null][] = [];
    for (const [traceId, { starts, home }] of traces) {
      const before = known.get(traceId);
      if (before === undefined) {
        added.push([traceId, starts?.first ?? null, starts?.last ?? null, home]);
      } else if (starts !== null) {
        this.#extend(before, starts);
      }
    }
    if (added.length > 0) {
      this.#sql.exec(
        `INSERT INTO traces (trace_id, tier, first_received_at, first_start, last_start, home)
         SELECT value ->> 0, ?, ?, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)`,
        tier,
        now,
        JSON.stringify(added),
      );
    }
    return added.map(([traceId]) => traceId);
  }

  #extend({ trace_id, first_start, last_start }: KnownTrace, { first, last }: StartBounds): void {
    const isWithin =
      first_start !== null && last_start !== null && first_start <= first && last_start >= last;
    if (isWithin) return;
    const from = Math.min(first_start ?? first, first);
    // A trace that is still running will have more runs: its row should not be written with each of them.
    const to = last_start === null ? last : last > last_start ? last + (last - from) : last_start;
    this.#sql.exec(
      "UPDATE traces SET first_start = ?, last_start = ? WHERE trace_id = ?",
      from,
      to,
      trace_id,
    );
  }

  /** Returns true if the trace is here and was in the short retention before. */
  upgrade(traceId: string): boolean {
    const { rowsWritten } = this.#sql.exec(
      "UPDATE traces SET tier = 'longlived' WHERE trace_id = ? AND tier <> 'longlived'",
      traceId,
    );
    return rowsWritten > 0;
  }

  /** Returns when the first trace expires, in epoch milliseconds; null if there is none. */
  nextDue(): number | null {
    const rows = this.#sql
      .exec<{ tier: string; first: number }>(
        "SELECT tier, min(first_received_at) AS first FROM traces GROUP BY tier",
      )
      .toArray();
    const due = rows.map(({ tier, first }) => first / 1000 + this.ttlMs(tier));
    return due.length === 0 ? null : Math.ceil(Math.min(...due));
  }

  /** Returns the ids of up to `limit` traces that have expired at `nowMs`. */
  due(nowMs: number, limit: number): string[] {
    return this.#sql
      .exec<{ trace_id: string }>(
        `SELECT trace_id FROM traces
         WHERE first_received_at <= iif(tier = 'longlived', ?, ?) LIMIT ?`,
        (nowMs - this.#times.longlivedMs) * 1000,
        (nowMs - this.#times.shortlivedMs) * 1000,
        limit,
      )
      .toArray()
      .map(({ trace_id }) => trace_id);
  }

  isEmpty(): boolean {
    // A shard may know from the other days of their traces of runs that are still to arrive.
    const rows = this.#sql.exec(
      `SELECT 1 FROM (SELECT 1 FROM traces LIMIT 1)
       UNION ALL SELECT 1 FROM (SELECT 1 FROM foreign_children LIMIT 1)
       UNION ALL SELECT 1 FROM (SELECT 1 FROM trace_parts LIMIT 1)`,
    );
    return rows.toArray().length === 0;
  }

  get longestMs(): number {
    return Math.max(this.#times.shortlivedMs, this.#times.longlivedMs);
  }

  ttlMs(tier: string): number {
    return tier === "longlived" ? this.#times.longlivedMs : this.#times.shortlivedMs;
  }
}

/** Selects the rows `r` of the runs of traces. Its one parameter is a JSON list of trace ids. */
const RUNS_OF_TRACES = `FROM traces t CROSS JOIN runs r
  ON ${startsBetween("r", "t.first_start", "t.last_start")} AND r.trace_id = t.trace_id
  WHERE t.trace_id IN (SELECT value FROM json_each(?))`;

type DeletedRun = {
  id: string;
  key_high: number;
  key_low: number;
  parent_run_id: string | null;
  attachments: string | null;
};

/** Deletes every row of these traces. Their R2 objects become garbage. Must be called inside of a transaction. */
export function deleteTraceRows(sql: SqlStorage, traceIds: readonly string[]): void {
  const ids = JSON.stringify(traceIds);
  const places = PAYLOAD_FIELDS.map((field) => `${payloadPlaceSql("r", field)} AS p_${field}`);
  const runs = sql
    .exec<DeletedRun & Record<string, SqlStorageValue>>(
      `SELECT r.id, ${KEY_PARTS}, r.parent_run_id, r.attachments, ${places.join(", ")} ${RUNS_OF_TRACES}`,
      ids,
    )
    .toArray();
  for (const run of runs) {
    for (const field of PAYLOAD_FIELDS) {
      const payload = fromStored(run[`p_${field}`]);
      if (payload !== null && "object" in payload) discard(sql, payload.object);
    }
    for (const { object } of readAttachments(run.attachments)) discard(sql, object);
  }
  const runIds = JSON.stringify(runs.map(({ id }) => id));
  const ofRuns = "IN (SELECT value FROM json_each(?))";
  sql.exec(`DELETE FROM feedback WHERE run_id ${ofRuns}`, runIds);
  sql.exec(`DELETE FROM long_payloads WHERE run_id ${ofRuns}`, runIds);
  sql.exec(`DELETE FROM foreign_children WHERE parent_run_id ${ofRuns}`, runIds);
  new StoredChildren(sql).forgetParents(runs.flatMap(({ parent_run_id: id }) => id ?? []));
  sql.exec(
    `DELETE FROM runs WHERE key IN (
       SELECT ((value ->> 0) << 10) + (value ->> 1) FROM json_each(?))`,
    JSON.stringify(runs.map(({ key_high, key_low }) => [key_high, key_low])),
  );
  sql.exec(`DELETE FROM trace_parts WHERE trace_id ${ofRuns}`, ids);
  sql.exec(`DELETE FROM traces WHERE trace_id ${ofRuns}`, ids);
}

/** Returns the ids of the feedback about runs of these traces. */
export function feedbackOf(sql: SqlStorage, traceIds: readonly string[]): string[] {
  return sql
    .exec<{ id: string }>(
      `SELECT id FROM feedback WHERE run_id IN (SELECT r.id ${RUNS_OF_TRACES})`,
      JSON.stringify(traceIds),
    )
    .toArray()
    .map(({ id }) => id);
}

/** Attachments are not under the shard's own prefix, because they were stored before their run was. */
export function discardAttachments(sql: SqlStorage): void {
  sql.exec(
    `INSERT OR IGNORE INTO garbage (object)
     SELECT a.value ->> 'object' FROM runs r, json_each(r.attachments) a
     WHERE r.attachments IS NOT NULL`,
  );
}

function discard(sql: SqlStorage, object: string): void {
  sql.exec("INSERT OR IGNORE INTO garbage (object) VALUES (?)", object);
}
