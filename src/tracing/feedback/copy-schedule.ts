const MINUTE_MS = 60_000;

/** The first time that a copy is tried again: by then the request that makes it has ended. */
export const FIRST_RETRY_MS = MINUTE_MS;

const LAST_RETRY_MS = 60 * MINUTE_MS;
const GIVEN_UP_MS = 24 * 60 * MINUTE_MS;

/**
 * When a copy that could not be made `now` is tried again: after as long as it has been wanted, so
 * that the pauses double, between a minute and an hour. Null after a day. Epoch milliseconds.
 */
export function nextCopyAttempt(wantedAt: number, now: number): number | null {
  const waited = now - wantedAt;
  if (waited >= GIVEN_UP_MS) return null;
  return now + Math.min(Math.max(waited, FIRST_RETRY_MS), LAST_RETRY_MS);
}
