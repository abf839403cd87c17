import { PAYLOADS_PER_RUN } from "../model/run-row.ts";

/** How long traces of each tier stay after their first run arrived, in milliseconds. */
export type RetentionTimes = { shortlivedMs: number; longlivedMs: number };

/** The traces of one shard, and when they go. */
export class TraceTable {
  readonly #sql: SqlStorage;
  readonly #times: RetentionTimes;

  constructor(sql: SqlStorage, times: RetentionTimes) {
    this.#sql = sql;
    this.#times = times;
  }

  /** Times in microseconds. Returns the ids that are new here. */
  note(traceIds: readonly string[], tier: string, now: number): string[] {
    return this.#sql
      .exec<{ trace_id: string }>(
        `INSERT INTO traces (trace_id, tier, first_received_at)
         SELECT DISTINCT value, ?, ? FROM json_each(?) WHERE true
         ON CONFLICT DO NOTHING RETURNING trace_id`,
        tier,
        now,
        JSON.stringify(traceIds),
      )
      .toArray()
      .map(({ trace_id }) => trace_id);
  }

  /** True when the trace is here and was to be kept for the short time only. */
  upgrade(traceId: string): boolean {
    const { rowsWritten } = this.#sql.exec(
      "UPDATE traces SET tier = 'longlived' WHERE trace_id = ? AND tier <> 'longlived'",
      traceId,
    );
    return rowsWritten > 0;
  }

  /** When the first trace is due, in epoch milliseconds; null when there is none. */
  nextDue(): number | null {
    const rows = this.#sql
      .exec<{ tier: string; first: number }>(
        "SELECT tier, min(first_received_at) AS first FROM traces GROUP BY tier",
      )
      .toArray();
    const due = rows.map(({ tier, first }) => first / 1000 + this.ttlMs(tier));
    return due.length === 0 ? null : Math.ceil(Math.min(...due));
  }

  /** Ids of traces that are due at `nowMs`, some at a time. */
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
    // A shard may know of runs that are still to come by the other days of their traces.
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

/**
 * Deletes every row of these traces; inside of a transaction. Their R2 objects become garbage.
 */
export function deleteTraceRows(sql: SqlStorage, traceIds: readonly string[]): void {
  const ids = JSON.stringify(traceIds);
  const inTraces = "trace_id IN (SELECT value FROM json_each(?))";
  const keys = `SELECT p.key FROM runs r JOIN payloads p
    ON p.key BETWEEN r.seq * ${PAYLOADS_PER_RUN} AND r.seq * ${PAYLOADS_PER_RUN} + ${PAYLOADS_PER_RUN - 1}
    WHERE r.${inTraces}`;
  sql.exec(
    `INSERT OR IGNORE INTO garbage (object)
     SELECT object FROM payloads WHERE object IS NOT NULL AND key IN (${keys})`,
    ids,
  );
  sql.exec(
    `INSERT OR IGNORE INTO garbage (object)
     SELECT a.value ->> 'object' FROM runs r, json_each(r.attachments) a
     WHERE r.attachments IS NOT NULL AND r.${inTraces}`,
    ids,
  );
  sql.exec(`DELETE FROM feedback WHERE run_id IN (SELECT id FROM runs WHERE ${inTraces})`, ids);
  sql.exec(`DELETE FROM payloads WHERE key IN (${keys})`, ids);
  sql.exec(
    `DELETE FROM run_attributes WHERE (attribute_id, seq) IN
       (SELECT a.value, r.seq FROM runs r, json_each(r.attribute_ids) a WHERE r.${inTraces})`,
    ids,
  );
  sql.exec(
    `DELETE FROM foreign_children
     WHERE parent_run_id IN (SELECT id FROM runs WHERE ${inTraces})`,
    ids,
  );
  sql.exec(`DELETE FROM runs WHERE ${inTraces}`, ids);
  sql.exec(`DELETE FROM trace_parts WHERE ${inTraces}`, ids);
  sql.exec(`DELETE FROM traces WHERE ${inTraces}`, ids);
}

/** The ids of the feedback about runs of these traces. */
export function feedbackOf(sql: SqlStorage, traceIds: readonly string[]): string[] {
  return sql
    .exec<{ id: string }>(
      `SELECT id FROM feedback WHERE run_id IN
         (SELECT id FROM runs WHERE trace_id IN (SELECT value FROM json_each(?)))`,
      JSON.stringify(traceIds),
    )
    .toArray()
    .map(({ id }) => id);
}

/** Attachments are not under the shard's own prefix: they were there before their run was. */
export function discardAttachments(sql: SqlStorage): void {
  sql.exec(
    `INSERT OR IGNORE INTO garbage (object)
     SELECT a.value ->> 'object' FROM runs r, json_each(r.attachments) a
     WHERE r.attachments IS NOT NULL`,
  );
}
