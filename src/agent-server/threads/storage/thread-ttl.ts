export const TTL_STRATEGIES = ["delete", "keep_latest"] as const;

/** The action when a thread expires after a number of minutes: remove it, or keep only its latest checkpoint. */
export type ThreadTtl = { strategy: (typeof TTL_STRATEGIES)[number]; minutes: number };

/**
 * `expires_at` is null if nothing is to be done: without a ttl, or if the thread was pruned and has not changed
 * since.
 */
export type TtlColumns = {
  ttl_strategy: ThreadTtl["strategy"] | null;
  ttl_minutes: number | null;
  expires_at: number | null;
};

export const NO_TTL: TtlColumns = { ttl_strategy: null, ttl_minutes: null, expires_at: null };

export function startTtl({ strategy, minutes }: ThreadTtl, now: number): TtlColumns {
  return {
    ttl_strategy: strategy,
    ttl_minutes: minutes,
    expires_at: now + Math.ceil(minutes * 60_000),
  };
}

/**
 * Returns the columns to change when the state has changed: for a thread that was pruned, its time to live
 * restarts.
 */
export function ttlRenewedBy(row: TtlColumns, now: number): Partial<TtlColumns> {
  const { ttl_strategy: strategy, ttl_minutes: minutes, expires_at } = row;
  if (strategy !== "keep_latest" || minutes === null || expires_at !== null) return {};
  return startTtl({ strategy, minutes }, now);
}
