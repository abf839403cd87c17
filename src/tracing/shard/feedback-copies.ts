import { feedbackStats } from "./feedback-stats.ts";
import type { ShardFeedback } from "./shard-feedback.ts";

export type FeedbackRun = {
  id: string;
  traceId: string;
  projectId: string;
  isRoot: boolean;
};

type KnownRun = { id: string; trace_id: string; parent_run_id: string | null };

type FeedbackRow = {
  id: string;
  run_id: string;
  key: string;
  score: number | null;
  value: string | null;
  comment: string | null;
  source: string;
  error: number;
  created_at: number;
};

/** The runs among these that are here. */
export function knownRuns(sql: SqlStorage, runIds: readonly string[]): KnownRun[] {
  return sql
    .exec<KnownRun>(
      `SELECT id, trace_id, parent_run_id FROM runs
       WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(runIds),
    )
    .toArray();
}

/** Writes copies, and each run's `feedback_stats` anew; inside of a transaction. */
export function saveFeedback(sql: SqlStorage, rows: readonly ShardFeedback[]): void {
  for (const row of rows) {
    sql.exec(
      `INSERT OR REPLACE INTO feedback
         (id, run_id, key, score, value, comment, source, error, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.id,
      row.runId,
      row.key,
      row.score,
      row.value,
      row.comment,
      row.source,
      row.error ? 1 : 0,
      row.createdAt,
    );
  }
  refreshStats(
    sql,
    rows.map(({ runId }) => runId),
  );
}

export function removeFeedback(sql: SqlStorage, ids: readonly string[]): void {
  const runs = sql
    .exec<{ run_id: string }>(
      "DELETE FROM feedback WHERE id IN (SELECT value FROM json_each(?)) RETURNING run_id",
      JSON.stringify(ids),
    )
    .toArray();
  refreshStats(
    sql,
    runs.map(({ run_id }) => run_id),
  );
}

function refreshStats(sql: SqlStorage, runIds: readonly string[]): void {
  for (const runId of new Set(runIds)) {
    const rows = sql
      .exec<FeedbackRow>("SELECT * FROM feedback WHERE run_id = ? ORDER BY created_at, id", runId)
      .toArray()
      .map(fromRow);
    sql.exec(
      "UPDATE runs SET feedback_stats = ? WHERE id = ?",
      rows.length === 0 ? null : JSON.stringify(feedbackStats(rows)),
      runId,
    );
  }
}

function fromRow(row: FeedbackRow): ShardFeedback {
  return {
    id: row.id,
    runId: row.run_id,
    key: row.key,
    score: row.score,
    value: row.value,
    comment: row.comment,
    source: row.source,
    error: row.error === 1,
    extendRetention: false,
    createdAt: row.created_at,
  };
}
