import { feedbackLinks } from "../../tracing/feedback-links.ts";
import type { AppContext } from "../../http/app-types.ts";
import type { PreparedRun } from "./new-run.ts";

/** How long after the latest end of a run its feedback can be given. */
const LINK_LIFE_MS = 24 * 60 * 60 * 1000;

/** Gives a run that asks for feedback the links for it, which are there before the run is. */
export async function withFeedbackLinks(
  c: AppContext,
  prepared: PreparedRun,
): Promise<PreparedRun> {
  const { request } = prepared;
  const { feedback_keys: keys, after_seconds } = request.payload;
  if (keys === null || keys.length === 0) return prepared;
  const { hosts, runTimeoutMs } = c.var.settings;
  const feedback = await feedbackLinks(c.env.DB, request.scope.workspaceId, {
    runId: request.run_id,
    keys,
    expiresAt: Date.now() + Math.round(after_seconds * 1000) + runTimeoutMs + LINK_LIFE_MS,
    requestUrl: hosts.api === null ? c.req.url : `https://${hosts.api}`,
  });
  return { ...prepared, request: { ...request, feedback } };
}
