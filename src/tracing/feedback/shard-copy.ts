import type { FeedbackRow } from "../../db/feedback-repo.ts";
import type { ShardFeedback } from "../shard/shard-feedback.ts";

/** What a shard keeps of a row, and statistics are made of; about a project it has no run. */
export function toShardFeedback(row: FeedbackRow): ShardFeedback {
  return {
    id: row.id,
    runId: row.run_id ?? "",
    key: row.key,
    score: row.score,
    value: row.value,
    comment: row.comment,
    source: row.source_type,
    error: row.error,
    extendRetention: row.extend_trace_retention,
    createdAt: row.created_at,
  };
}
