import { insertFeedbackTokens } from "../db/feedback-tokens-repo.ts";
import { feedbackLink, newFeedbackToken } from "./feedback/feedback-token.ts";

/** Makes links by which feedback on a run can be given without a key, one for each key of feedback. */
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
