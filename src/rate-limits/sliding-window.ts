import type { Limit } from "./policy.ts";

/** Maximum permits of one lease, as a share of all permits and of the free ones. */
const LEASE_SHARE_OF_ALL = 1 / 20;
const LEASE_SHARE_OF_FREE = 1 / 4;

type GivenLease = { permits: number; until: number };

/** The state to persist. Times are those of the steady clock. */
export type WindowState = {
  clock: SteadyTime;
  windowMs: number;
  /** Permits by the latest time at which they can have been used, in order. */
  used: [at: number, permits: number][];
  leases: [id: number, lease: GivenLease][];
};

/**
 * The permits of one limit and one client, granted such that no span of the limit's length ever sees more than
 * `count` used. A permit is in use from the moment when it is granted until one window after the latest moment at
 * which a request can have been admitted with it. So all permits that are used within one span are in use at the
 * same time when the last of them is granted, and at most `count` are ever in use.
 *
 * For a permit that a request waits for, that latest moment is now. For a leased permit it is the end of the
 * lease, unless the isolate that holds it reports earlier that it was used, or never will be.
 */
export class SlidingWindow {
  #clock: SteadyTime;
  #windowMs: number;
  #used: WindowState["used"];
  readonly #leases: Map<number, GivenLease>;
  readonly #newId: () => number;

  /** `newId` makes lease ids that were never used before, including before the object was last evicted. */
  constructor(state: WindowState | null, reading: number, newId: () => number) {
    this.#clock = state?.clock ?? { time: reading, reading };
    this.#windowMs = state?.windowMs ?? 0;
    this.#used = state?.used ?? [];
    this.#leases = new Map(state?.leases);
    this.#newId = newId;
  }

  /**
   * Grants or refuses permits. The state must be stored after granting or leasing; changes by a refusal need not
   * be.
   */
  take({ limit, needed, spare, settled }: TakeRequest, reading: number): TakeAnswer {
    const times = windowTimes(limit);
    this.#windowMs = times.windowMs;
    this.#pass(reading);
    for (const each of settled) this.#settle(each, times);
    const inUse = this.#inUse();
    const free = Math.max(0, limit.count - inUse - needed);
    const leaseMs = Math.max(times.minLeaseMs, (times.maxLeaseMs * free) / limit.count);
    if (inUse + needed > limit.count) {
      return { admitted: false, retryMs: this.#freeIn(inUse - limit.count + needed), leaseMs };
    }
    if (needed > 0) this.#use(this.#clock.time, needed, times);
    const permits = leasable(limit, spare, free);
    return {
      admitted: true,
      free: free - permits,
      lease: permits === 0 ? null : { id: this.#lease(permits, leaseMs), permits },
      leaseMs,
    };
  }

  /** Returns the milliseconds until no permit is in use; 0 when none is. */
  emptyIn(reading: number): number {
    this.#pass(reading);
    return Math.max(0, ...this.#releases().map(({ at }) => at - this.#clock.time));
  }

  state(): WindowState {
    return {
      clock: this.#clock,
      windowMs: this.#windowMs,
      used: this.#used,
      leases: [...this.#leases],
    };
  }

  #pass(reading: number): void {
    this.#clock = advance(this.#clock, reading);
    const before = this.#clock.time - this.#windowMs;
    const kept = this.#used.findIndex(([at]) => at > before);
    this.#used = kept === -1 ? [] : this.#used.slice(kept);
    for (const [id, { until }] of this.#leases) if (until <= before) this.#leases.delete(id);
  }

  #settle({ lease: id, used }: Settlement, times: WindowTimes): void {
    const lease = this.#leases.get(id);
    if (lease === undefined) return;
    this.#leases.delete(id);
    const permits = Math.min(used, lease.permits);
    if (permits > 0) this.#use(Math.min(lease.until, this.#clock.time), permits, times);
  }

  #use(time: number, permits: number, { gridMs }: WindowTimes): void {
    const at = Math.ceil(time / gridMs) * gridMs;
    const index = this.#used.findLastIndex(([other]) => other <= at);
    const entry = this.#used[index];
    if (entry?.[0] === at) entry[1] += permits;
    else this.#used.splice(index + 1, 0, [at, permits]);
  }

  #lease(permits: number, leaseMs: number): number {
    const id = this.#newId();
    this.#leases.set(id, { permits, until: this.#clock.time + leaseMs });
    return id;
  }

  #inUse(): number {
    let sum = 0;
    for (const [, permits] of this.#used) sum += permits;
    for (const { permits } of this.#leases.values()) sum += permits;
    return sum;
  }

  /** Returns the milliseconds until `wanted` more permits are free, at least 1. */
  #freeIn(wanted: number): number {
    let freed = 0;
    for (const { at, permits } of this.#releases().toSorted((a, b) => a.at - b.at)) {
      freed += permits;
      if (freed >= wanted) return Math.max(1, at - this.#clock.time);
    }
    return this.#windowMs;
  }

  #releases(): { at: number; permits: number }[] {
    return [
      ...this.#used.map(([at, permits]) => ({ at: at + this.#windowMs, permits })),
      ...[...this.#leases.values()].map(({ until, permits }) => ({
        at: until + this.#windowMs,
        permits,
      })),
    ];
  }
}

function leasable(limit: Limit, spare: number, free: number): number {
  if (!isLeased(limit)) return 0;
  const most = Math.min(limit.count * LEASE_SHARE_OF_ALL, free * LEASE_SHARE_OF_FREE);
  return Math.min(spare, Math.floor(most));
}

/** A time that never goes back, with the clock's reading at that time. */
type SteadyTime = { time: number; reading: number };

/**
 * Returns the time at another reading of the clock. If the clock was set back, the time continues from where it
 * was. A step ahead cannot be told apart from time that has passed.
 */
function advance({ time, reading }: SteadyTime, newReading: number): SteadyTime {
  return { time: time + Math.max(0, newReading - reading), reading: newReading };
}

/** Limits above this count are leased. For those up to it, every request asks the object. */
const LEASED_ABOVE_COUNT = 100;

/** Maximum duration of a lease, and its minimum as a share of the limit's interval. */
const MAX_LEASE_MS = 5_000;
const MIN_LEASE_SHARE = 0.01;
/** Allowance for differences between clocks and for late readings. */
const MARGIN_SHARE = 0.02;
const MAX_MARGIN_MS = 1_000;
/** Number of distinct times that are remembered per interval. */
const GRID_STEPS = 200;

/** The times that follow from a limit, in milliseconds. */
type WindowTimes = {
  /** How long a permit stays in use after a request was admitted with it. */
  windowMs: number;
  /** Times of use are rounded up to multiples of this. */
  gridMs: number;
  /** Maximum duration of a lease. It gets shorter when fewer permits are free. */
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
    // A small number of permits is remembered with exact times.
    gridMs: count > GRID_STEPS ? Math.max(1, Math.floor(intervalMs / GRID_STEPS)) : 1,
    maxLeaseMs: Math.min(MAX_LEASE_MS, intervalMs / 2),
    minLeaseMs: Math.min(MAX_LEASE_MS, intervalMs * MIN_LEASE_SHARE),
  };
}

/** The last report on a lease: how many of its permits were used. The others will never be used. */
type Settlement = { lease: number; used: number };

export type TakeRequest = {
  limit: Limit;
  /** Permits for a waiting request: 1, or 0 when none waits. */
  needed: 0 | 1;
  /** Further permits to lease if enough are free. */
  spare: number;
  settled: Settlement[];
};

export type TakeAnswer =
  | {
      admitted: true;
      /** Permits that nobody holds after this answer. */
      free: number;
      lease: { id: number; permits: number } | null;
      /** How long a lease granted now is valid, counted from the request for it. */
      leaseMs: number;
    }
  | { admitted: false; retryMs: number; leaseMs: number };
