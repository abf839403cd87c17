export const TTL_STRATEGIES = ["delete", "keep_latest"] as const;

/** What becomes of a thread when so many minutes are over: it goes, or only its latest checkpoint stays. */
export type ThreadTtl = { strategy: (typeof TTL_STRATEGIES)[number]; minutes: number };

/** `expires_at` is null while nothing is to be done: without a ttl, or when a thread was pruned and is unchanged since. */
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

/** A thread that was pruned is pruned again so long after its state has changed. */
export function ttlRenewedBy(row: TtlColumns, now: number): Partial<TtlColumns> {
  const { ttl_strategy: strategy, ttl_minutes: minutes, expires_at } = row;
  if (strategy !== "keep_latest" || minutes === null || expires_at !== null) return {};
  return startTtl({ strategy, minutes }, now);
}
