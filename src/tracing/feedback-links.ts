import { insertFeedbackTokens } from "../db/feedback-tokens-repo.ts";
import { feedbackLink, newFeedbackToken } from "./feedback/feedback-token.ts";

/** Creates links that accept feedback on a run without an API key. Returns one link per feedback key. */
export async function feedbackLinks(
  db: D1Database,
  workspaceId: string,
  run: { runId: string; keys: readonly string[]; expiresAt: number; requestUrl: string },
): Promise<Record<string, string>> {
  const rows = [...new Set(run.keys)].map((feedback_key) =>
    newFeedbackToken(
      workspaceId,
      { run_id: run.runId, feedback_key, expires_at: run.expiresAt * 1000 },
      Date.now(),
    ),
  );
  await insertFeedbackTokens(db, rows);
  return Object.fromEntries(
    rows.map((row) => [row.feedback_key, feedbackLink(row.id, run.requestUrl)]),
  );
}
