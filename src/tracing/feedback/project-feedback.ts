import { type FeedbackRow, listFeedback } from "../../db/feedback-repo.ts";
import { type FeedbackStat, feedbackStats } from "../shard/feedback-stats.ts";
import { toShardFeedback } from "./feedback-shards.ts";

/** Of the newest of each request; projects have few. */
const MAX_ROWS = 2000;

/** Statistics of the feedback about projects as a whole, by project id and key. */
export async function projectFeedbackStats(
  db: D1Database,
  workspaceId: string,
  projectIds: readonly string[],
): Promise<Map<string, Record<string, FeedbackStat>>> {
  const filter = { sessionIds: projectIds, level: "session" } as const;
  const rows = await listFeedback(db, workspaceId, filter, { limit: MAX_ROWS, offset: 0 });
  const byProject = new Map<string, FeedbackRow[]>(projectIds.map((id) => [id, []]));
  for (const row of rows) byProject.get(row.session_id ?? "")?.push(row);
  return new Map(
    [...byProject].map(([id, rows]) => [id, feedbackStats(rows.map(toShardFeedback))] as const),
  );
}
