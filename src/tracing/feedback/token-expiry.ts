import type { FeedbackTokenCreate } from "../api/v1/feedback/token-schemas.ts";

const MINUTE_MS = 60_000;

const DEFAULT_LIFE_MS = 3 * 60 * MINUTE_MS;

/** When a token made `now` ends: as it says, or after three hours. Epoch milliseconds. */
export function tokenExpiry(
  { expires_at, expires_in }: Pick<FeedbackTokenCreate, "expires_at" | "expires_in">,
  now: number,
): number {
  if (expires_at != null) return Math.floor(expires_at / 1000);
  if (expires_in == null) return now + DEFAULT_LIFE_MS;
  const { days = 0, hours = 0, minutes = 0 } = expires_in;
  return now + ((days * 24 + hours) * 60 + minutes) * MINUTE_MS;
}
