import { toIso } from "../../lib/time.ts";
import type { FeedbackTokenRow } from "../../db/feedback-tokens-repo.ts";
import { configText } from "./feedback-config.ts";
import { tokenExpiry } from "./token-expiry.ts";
import type { FeedbackTokenCreate } from "../api/v1/feedback/token-schemas.ts";

/** `now` in epoch milliseconds. The id is the secret of the link, so it is never the client's. */
export function newFeedbackToken(
  workspaceId: string,
  body: FeedbackTokenCreate,
  now: number,
): FeedbackTokenRow {
  return {
    id: crypto.randomUUID(),
    workspace_id: workspaceId,
    run_id: body.run_id,
    feedback_key: body.feedback_key,
    feedback_config: body.feedback_config ? configText(body.feedback_config) : null,
    feedback_id: body.id ?? crypto.randomUUID(),
    expires_at: tokenExpiry(body, now),
    created_at: now,
  };
}

/** `url` is any of this server. */
export function toFeedbackToken(row: FeedbackTokenRow, url: string) {
  return {
    id: row.id,
    url: new URL(`/api/v1/feedback/tokens/${row.id}`, url).href,
    expires_at: toIso(row.expires_at),
    feedback_key: row.feedback_key,
  };
}
