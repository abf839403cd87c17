import { findProjectFeedback, readFeedback } from "../../db/feedback-pages.ts";
import { invalidField } from "../../lib/api-error.ts";
import { type FeedbackStat, feedbackStats, type ShardFeedback } from "../shard/feedback-stats.ts";
import { toShardFeedback } from "./feedback-shards.ts";

/** The newest are counted, at most so many for each request; projects have few. */
const MAX_ROWS = 2000;

/** Statistics of the feedback about projects as a whole, by project id and key. */
export async function projectFeedbackStats(
  db: D1Database,
  workspaceId: string,
  projectIds: readonly string[],
): Promise<Map<string, Record<string, FeedbackStat>>> {
  const found = await findProjectFeedback(db, workspaceId, projectIds, MAX_ROWS);
  if (found === null) {
    const msg = "There is too much feedback about projects for statistics of it: leave them out";
    throw invalidField(["query", "stats_select"], msg, "query_too_large");
  }
  const byProject = new Map<string, ShardFeedback[]>(projectIds.map((id) => [id, []]));
  for await (const row of readFeedback(db, workspaceId, found)) {
    byProject.get(row.session_id ?? "")?.push(toShardFeedback(row));
  }
  return new Map([...byProject].map(([id, rows]) => [id, feedbackStats(rows)] as const));
}
