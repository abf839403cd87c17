import { type LocatedRun, locateRuns } from "../run-index/locate.ts";
import type { FeedbackRun } from "../shard/shard-feedback.ts";
import type { ShardFeedback } from "../shard/feedback-stats.ts";
import { type ShardRef, shardStub } from "../shard/shard-ref.ts";
import type { FeedbackRow } from "../../db/feedback-repo.ts";

/** Access to the copies of feedback, which shards store beside the runs. */
type FeedbackShards = {
  /** Returns the shards of the runs that are known. With `await`, the other runs are announced later. */
  locate: (
    workspaceId: string,
    runIds: readonly string[],
    options: { await: boolean },
  ) => Promise<LocatedRun[]>;
  /** Stores copies and replaces those with the same ids. Returns the runs that the shard has. */
  put: (ref: ShardRef, rows: ShardFeedback[]) => Promise<FeedbackRun[]>;
  remove: (ref: ShardRef, ids: string[]) => Promise<void>;
};

export type FeedbackDeps = {
  db: D1Database;
  shards: FeedbackShards;
  /** Epoch milliseconds. */
  now: () => number;
};

export function feedbackDeps(env: Env, now: () => number = Date.now): FeedbackDeps {
  return {
    db: env.DB,
    now,
    shards: {
      locate: (workspaceId, runIds, options) => locateRuns(env, workspaceId, runIds, options),
      put: async (ref, rows) => {
        const { runs } = await shardStub(env, ref).putFeedback(ref, rows);
        return runs;
      },
      remove: async (ref, ids) => {
        await shardStub(env, ref).deleteFeedback(ids);
      },
    },
  };
}

/** Returns what shards store of a row and compute statistics from. Feedback about a project has no run. */
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
