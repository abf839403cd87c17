const MINUTE_MS = 60_000;

/** Delay before the first retry of a copy: by then the request that makes the copy has ended. */
export const FIRST_RETRY_MS = MINUTE_MS;

const LAST_RETRY_MS = 60 * MINUTE_MS;
const GIVEN_UP_MS = 24 * 60 * MINUTE_MS;

/**
 * Returns when a copy that failed at `now` is retried: after as long as the copy has been due, so that
 * the delays double, between a minute and an hour. Returns null after a day. Times are epoch milliseconds.
 */
export function nextCopyAttempt(wantedAt: number, now: number): number | null {
  const waited = now - wantedAt;
  if (waited >= GIVEN_UP_MS) return null;
  return now + Math.min(Math.max(waited, FIRST_RETRY_MS), LAST_RETRY_MS);
}
