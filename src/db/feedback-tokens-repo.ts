import { and, desc, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { batchesOf } from "./feedback-repo.ts";
import { feedbackTokens } from "./tracing-schema.ts";

export type FeedbackTokenRow = typeof feedbackTokens.$inferSelect;

export async function insertFeedbackTokens(
  db: D1Database,
  rows: readonly FeedbackTokenRow[],
): Promise<void> {
  const orm = drizzle(db);
  const statements = rows.map((row) => orm.insert(feedbackTokens).values(row));
  for (const batch of batchesOf(statements)) await orm.batch(batch);
}

/** Returns a token of any workspace: anyone who knows the id may use it. */
export async function selectFeedbackToken(
  db: D1Database,
  id: string,
): Promise<FeedbackTokenRow | undefined> {
  return drizzle(db).select().from(feedbackTokens).where(eq(feedbackTokens.id, id)).get();
}

/** Returns the tokens of a run, newest first. */
export async function listFeedbackTokens(
  db: D1Database,
  workspaceId: string,
  runId: string,
  page: { limit: number; offset: number },
): Promise<FeedbackTokenRow[]> {
  return drizzle(db)
    .select()
    .from(feedbackTokens)
    .where(and(eq(feedbackTokens.workspace_id, workspaceId), eq(feedbackTokens.run_id, runId)))
    .orderBy(desc(feedbackTokens.created_at), desc(feedbackTokens.id))
    .limit(page.limit)
    .offset(page.offset);
}
