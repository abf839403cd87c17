import { type Micros, microsToMillis } from "../../lib/time.ts";
import { configText, type FeedbackConfig } from "./feedback-input.ts";

const MINUTE_MS = 60_000;

const DEFAULT_LIFE_MS = 3 * 60 * MINUTE_MS;

type TokenLife = {
  expires_at?: Micros | null | undefined;
  expires_in?:
    | { days?: number | undefined; hours?: number | undefined; minutes?: number | undefined }
    | null
    | undefined;
};

export type NewFeedbackToken = TokenLife & {
  run_id: string;
  feedback_key: string;
  feedback_config?: FeedbackConfig | null | undefined;
  /** The id of the feedback that the token will create. */
  id?: string | null | undefined;
};

/**
 * Returns the row of a new token; `now` is in epoch milliseconds. The id is the secret of the link, so it
 * never comes from the client.
 */
export function newFeedbackToken(workspaceId: string, body: NewFeedbackToken, now: number) {
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

/** Returns the URL that accepts the token's feedback; `url` is any URL on the host that it points to. */
export function feedbackLink(tokenId: string, url: string): string {
  return new URL(`/api/v1/feedback/tokens/${tokenId}`, url).href;
}

/** Returns when a token made at `now` expires: as requested, or after three hours. In epoch milliseconds. */
export function tokenExpiry({ expires_at, expires_in }: TokenLife, now: number): number {
  if (expires_at != null) return microsToMillis(expires_at);
  if (expires_in == null) return now + DEFAULT_LIFE_MS;
  const { days = 0, hours = 0, minutes = 0 } = expires_in;
  return now + ((days * 24 + hours) * 60 + minutes) * MINUTE_MS;
}
