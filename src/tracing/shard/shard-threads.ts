import type { TurnRuns } from "./scan-turn.ts";
import { bucketSql, type Histogram } from "../model/histogram.ts";

/** The root runs of one thread in one shard. Times are in microseconds, costs in picodollars. */
export type ThreadTotals = {
  threadId: string;
  count: number;
  errors: number;
  minStart: number;
  maxStart: number;
  totalTokens: number;
  totalCost: number | null;
  firstTraceId: string;
  firstInputs: string | null;
  lastTraceId: string;
  lastOutputs: string | null;
  /** The error of the latest turn that failed, and the start of that turn. */
  lastError: string | null;
  lastErrorStart: number | null;
  feedbackStats: string[];
  latency: Histogram;
};

type ThreadTotalsRow = Omit<ThreadTotals, "feedbackStats" | "latency">;

/** Returns the threads of those of the runs that are roots. */
export function readThreadTotals(
  storage: SqlStorage,
  { from, condition }: TurnRuns,
): ThreadTotals[] {
  const where = `r.parent_run_id IS NULL AND r.thread_id IS NOT NULL AND ${condition.text}`;
  const rows = storage
    .exec<ThreadTotalsRow>(
      `WITH roots AS (
         SELECT r.*, row_number() OVER (PARTITION BY r.thread_id ORDER BY r.start_time, r.id) AS first,
           row_number() OVER (PARTITION BY r.thread_id ORDER BY r.start_time DESC, r.id DESC) AS last,
           row_number() OVER (PARTITION BY r.thread_id, r.status = 'error'
             ORDER BY r.start_time DESC, r.id DESC) AS last_of_outcome
         FROM ${from} WHERE ${where}
       )
       SELECT thread_id AS threadId, count(*) AS count, sum(status = 'error') AS errors,
         min(start_time) AS minStart, max(start_time) AS maxStart,
         sum(total_tokens) AS totalTokens, sum(total_cost) AS totalCost,
         max(iif(first = 1, trace_id, NULL)) AS firstTraceId,
         max(iif(first = 1, inputs_preview, NULL)) AS firstInputs,
         max(iif(last = 1, trace_id, NULL)) AS lastTraceId,
         max(iif(last = 1, outputs_preview, NULL)) AS lastOutputs,
         max(iif(last_of_outcome = 1 AND status = 'error', error, NULL)) AS lastError,
         max(iif(status = 'error', start_time, NULL)) AS lastErrorStart
       FROM roots GROUP BY thread_id`,
      ...condition.params,
    )
    .toArray();
  const threads = new Map<string, ThreadTotals>(
    rows.map((row) => [row.threadId, { ...row, feedbackStats: [], latency: [] }]),
  );
  const latency = "(r.end_time - r.start_time)";
  const buckets = storage.exec<{ thread_id: string; value: number; n: number }>(
    `SELECT r.thread_id, ${bucketSql(latency)} AS value, count(*) AS n
     FROM ${from} WHERE ${where} AND r.end_time IS NOT NULL GROUP BY 1, 2 ORDER BY 2`,
    ...condition.params,
  );
  for (const { thread_id, value, n } of buckets) {
    threads.get(thread_id)?.latency.push({ value, count: n });
  }
  const feedback = storage.exec<{ thread_id: string; feedback_stats: string }>(
    `SELECT r.thread_id, r.feedback_stats FROM ${from}
     WHERE ${where} AND r.feedback_stats IS NOT NULL`,
    ...condition.params,
  );
  for (const row of feedback) threads.get(row.thread_id)?.feedbackStats.push(row.feedback_stats);
  return [...threads.values()];
}
