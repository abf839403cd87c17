import { keyIs, KEY_PARTS, type KeyParts } from "../filter/run-key.ts";
import type { ShardDatabase } from "./shard-database.ts";
import { readRunsById } from "./stored-runs.ts";
import { feedbackStats, type ShardFeedback } from "./feedback-stats.ts";

export type FeedbackRun = {
  id: string;
  traceId: string;
  projectId: string;
  isRoot: boolean;
};

type KnownRun = KeyParts & {
  id: string;
  trace_id: string;
  parent_run_id: string | null;
};

type FeedbackCopyRow = {
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

/**
 * Writes copies of feedback about runs that are here, and computes the `feedback_stats` of these runs again. Must be
 * called inside of a transaction. Returns those runs, and the traces to move to the long retention.
 */
export function saveFeedback(
  db: ShardDatabase,
  rows: readonly ShardFeedback[],
  projectId: string,
): { runs: FeedbackRun[]; extended: string[] } {
  const { sql } = db;
  const runs = knownRuns(
    db,
    rows.map(({ runId }) => runId),
  );
  const traceOf = new Map(runs.map(({ id, trace_id }) => [id, trace_id]));
  const kept = rows.filter(({ runId }) => traceOf.has(runId));
  for (const row of kept) insertCopy(sql, row);
  refreshStats(sql, runs);
  return {
    runs: runs.map((run) => ({
      id: run.id,
      traceId: run.trace_id,
      projectId,
      isRoot: run.parent_run_id === null,
    })),
    extended: kept.flatMap(({ runId, extendRetention }) =>
      extendRetention ? (traceOf.get(runId) ?? []) : [],
    ),
  };
}

function knownRuns(db: ShardDatabase, ids: readonly string[]): KnownRun[] {
  return readRunsById<KnownRun>(db, `${KEY_PARTS}, id, trace_id, parent_run_id`, new Set(ids));
}

function insertCopy(sql: SqlStorage, row: ShardFeedback): void {
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

export function removeFeedbackCopies(db: ShardDatabase, ids: readonly string[]): void {
  const runs = db.sql
    .exec<{ run_id: string }>(
      "DELETE FROM feedback WHERE id IN (SELECT value FROM json_each(?)) RETURNING run_id",
      JSON.stringify(ids),
    )
    .toArray();
  refreshStats(
    db.sql,
    knownRuns(
      db,
      runs.map(({ run_id }) => run_id),
    ),
  );
}

function refreshStats(sql: SqlStorage, runs: readonly KnownRun[]): void {
  for (const { id, key_high, key_low } of runs) {
    const rows = sql
      .exec<FeedbackCopyRow>("SELECT * FROM feedback WHERE run_id = ? ORDER BY created_at, id", id)
      .toArray()
      .map(fromRow);
    sql.exec(
      `UPDATE runs SET feedback_stats = ? WHERE ${keyIs()}`,
      rows.length === 0 ? null : JSON.stringify(feedbackStats(rows)),
      key_high,
      key_low,
    );
  }
}

function fromRow(row: FeedbackCopyRow): ShardFeedback {
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
