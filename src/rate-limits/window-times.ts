import type { Limit } from "./policy.ts";

/** From there on, permits are leased. Below, every request asks. */
const LEASED_ABOVE_COUNT = 100;

/** A lease holds for at most so long, and for at least so much of the interval. */
const MAX_LEASE_MS = 5_000;
const MIN_LEASE_SHARE = 0.01;
/** What clocks may differ by, and readings of them be late. */
const MARGIN_SHARE = 0.02;
const MAX_MARGIN_MS = 1_000;
/** So many different times are remembered of an interval. */
const GRID_STEPS = 200;

/** The times in milliseconds that follow from a limit. */
export type WindowTimes = {
  /** How long a permit stays in use after a request was admitted with it. */
  windowMs: number;
  /** Times of use are rounded up to multiples of it. */
  gridMs: number;
  /** How long a lease holds: less, the fewer permits are free. */
  maxLeaseMs: number;
  minLeaseMs: number;
};

export function isLeased({ count }: Limit): boolean {
  return count > LEASED_ABOVE_COUNT;
}

export function windowTimes({ count, seconds }: Limit): WindowTimes {
  const intervalMs = seconds * 1000;
  return {
    windowMs: intervalMs + Math.min(MAX_MARGIN_MS, intervalMs * MARGIN_SHARE),
    // Few permits are remembered one by one.
    gridMs: count > GRID_STEPS ? Math.max(1, Math.floor(intervalMs / GRID_STEPS)) : 1,
    maxLeaseMs: Math.min(MAX_LEASE_MS, intervalMs / 2),
    minLeaseMs: Math.min(MAX_LEASE_MS, intervalMs * MIN_LEASE_SHARE),
  };
}
