import { isLeased, type TakeAnswer, type TakeRequest } from "./sliding-window.ts";
import type { Limit } from "./policy.ts";

type HeldLease = { id: number; left: number; used: number; until: number };

export type Decision =
  | { kind: "admitted"; remaining: number }
  | { kind: "refused"; retryMs: number }
  /** The object that counts could not be asked. */
  | { kind: "uncounted" };

/** A request that is not answered for so long never will be, because the one who asked has ended. */
const ASKING_MS = 2_000;
/** How long the object is not asked again after it could not be reached. */
const UNREACHABLE_MS = 5_000;
/** Readings of the clock stand still while code runs: no time that short is a measure of anything. */
const MIN_MEASURED_MS = 20;
/** What is left of a lease, in permits and in time, when another one is asked for. */
const LOW_SHARE = 1 / 4;

/**
 * The permits of one limit and one client that this isolate holds, and what it knows of those that
 * others do. Decides on its own where it can, and says what to ask for where it cannot.
 *
 * A lease counts from before it was asked for, so its end here is never after its end there. Times
 * are readings of the isolate's clock; `forget` is for when that was set back.
 */
export class LocalLimiter {
  #leases: HeldLease[] = [];
  /** The leases that have ended without the object knowing it. */
  #ended: HeldLease[] = [];
  /** The permits that nobody holds, as last heard. */
  #free = 0;
  #refusedUntil = 0;
  #retryAt = 0;
  #unreachableUntil = 0;
  #askedForLeaseAt: number | null = null;
  /** The requests that are not answered yet, and when they were sent. */
  readonly #asked = new Map<TakeRequest, number>();
  /** Requests since `#measuredFrom`, to tell how many will come while a lease is valid. */
  #requests = 0;
  #measuredFrom = 0;
  /** Permits of the newest lease, and those used of the ones that ended, the last counting most. */
  #leased = 0;
  #lastUsed = 0;
  #leaseMs = 0;

  /** The decision on a request, or null when it takes asking. */
  decide(now: number): Decision | null {
    this.#requests += 1;
    this.#expire(now);
    const [lease] = this.#leases;
    if (lease !== undefined) {
      lease.left -= 1;
      lease.used += 1;
      if (lease.left === 0) this.#end(lease);
      return { kind: "admitted", remaining: this.#free + this.#left() };
    }
    if (now < this.#refusedUntil)
      return { kind: "refused", retryMs: Math.max(1, this.#retryAt - now) };
    return now < this.#unreachableUntil ? { kind: "uncounted" } : null;
  }

  /** What to ask for a request that waits, with what else will be needed soon. */
  askFor(limit: Limit, now: number): TakeRequest {
    return this.#request(limit, 1, this.#planLease(limit, now), now);
  }

  /** What to ask for ahead of need, beside a request that does not wait; null for nothing. */
  askAhead(limit: Limit, now: number): TakeRequest | null {
    if (now < this.#refusedUntil || now < this.#unreachableUntil) return null;
    const newest = this.#leases.at(-1);
    const isLow = this.#left() <= this.#leased * LOW_SHARE;
    const isOld = newest === undefined || newest.until - now <= this.#leaseMs * LOW_SHARE;
    const spare = isLow || isOld ? this.#planLease(limit, now) : 0;
    return spare === 0 ? null : this.#request(limit, 0, spare, now);
  }

  /**
   * What to tell of a lease whose time is over; null when nothing is left of it, when it was told, and
   * when another lease shows that requests come, one of which will tell.
   */
  askToSettle(limit: Limit, lease: number, now: number): TakeRequest | null {
    this.#expire(now);
    const ended = this.#ended.find(({ id }) => id === lease);
    if (ended === undefined || ended.left === 0 || this.#leases.length > 0) return null;
    return this.#request(limit, 0, 0, now);
  }

  answered(request: TakeRequest, answer: TakeAnswer, now: number): Decision {
    const askedAt = this.#asked.get(request);
    this.#asked.delete(request);
    this.#confirm(request);
    this.#leaseMs = answer.leaseMs;
    if (!answer.admitted) {
      this.#free = 0;
      this.#retryAt = now + answer.retryMs;
      // Leased permits may come back at any time; asking for each of them would be a call for each.
      this.#refusedUntil = isLeased(request.limit) ? now + answer.leaseMs : this.#retryAt;
      return { kind: "refused", retryMs: answer.retryMs };
    }
    this.#free = answer.free;
    if (answer.lease !== null) {
      const { id, permits } = answer.lease;
      const lease = { id, left: permits, used: 0, until: (askedAt ?? 0) + answer.leaseMs };
      this.#leased = permits;
      this.#leases.push(lease);
      if (askedAt === undefined) this.#end(lease);
    }
    return { kind: "admitted", remaining: this.#free + this.#left() };
  }

  failed(request: TakeRequest, now: number): Decision {
    this.#asked.delete(request);
    if (request.spare > 0) this.#askedForLeaseAt = null;
    this.#unreachableUntil = now + UNREACHABLE_MS;
    return { kind: "uncounted" };
  }

  /** Gives up all that depends on the time. */
  forget(): void {
    for (const lease of this.#leases) this.#end(lease);
    this.#asked.clear();
    this.#refusedUntil = 0;
    this.#unreachableUntil = 0;
    this.#askedForLeaseAt = null;
    this.#measuredFrom = 0;
  }

  /** Nothing is lost with it but what is counted as used then. */
  isIdle(now: number): boolean {
    this.#expire(now);
    return this.#leases.length === 0 && now >= this.#refusedUntil && now >= this.#unreachableUntil;
  }

  #planLease(limit: Limit, now: number): number {
    const isAsked = this.#askedForLeaseAt !== null && now < this.#askedForLeaseAt + ASKING_MS;
    if (!isLeased(limit) || isAsked) return 0;
    const elapsedMs = Math.max(MIN_MEASURED_MS, now - this.#measuredFrom);
    const expected = Math.floor((this.#requests / elapsedMs) * this.#leaseMs);
    return Math.min(expected, 2 * this.#lastUsed + 2);
  }

  #request(limit: Limit, needed: 0 | 1, spare: number, now: number): TakeRequest {
    if (spare > 0) this.#askedForLeaseAt = now;
    const isMeasured = spare > 0 || now - this.#measuredFrom > this.#leaseMs;
    if (isMeasured) {
      this.#measuredFrom = now;
      this.#requests = 0;
    }
    const settled = this.#ended.map(({ id, used }) => ({ lease: id, used }));
    const request = { limit, needed, spare, settled };
    for (const [given, at] of this.#asked) {
      if (now < at + ASKING_MS) break;
      this.#asked.delete(given);
    }
    this.#asked.set(request, now);
    return request;
  }

  #confirm({ spare, settled }: TakeRequest): void {
    if (spare > 0) this.#askedForLeaseAt = null;
    const told = new Set(settled.map(({ lease }) => lease));
    this.#ended = this.#ended.filter(({ id }) => !told.has(id));
  }

  #expire(now: number): void {
    for (const lease of this.#leases) if (lease.until <= now) this.#end(lease);
  }

  #end(lease: HeldLease): void {
    this.#leases = this.#leases.filter((each) => each !== lease);
    this.#ended.push(lease);
    this.#lastUsed = Math.max(lease.used, Math.floor(this.#lastUsed / 2));
  }

  #left(): number {
    return this.#leases.reduce((sum, { left }) => sum + left, 0);
  }
}

const MAX_LIMITERS = 10_000;

/** The limiters of this isolate, by the name of the object that counts for them. */
export class LocalLimiters {
  readonly #limiters = new Map<string, LocalLimiter>();
  readonly #clock: () => number;
  readonly #max: number;
  #lastReading = 0;

  constructor(clock: () => number, max = MAX_LIMITERS) {
    this.#clock = clock;
    this.#max = max;
  }

  /** The isolate's time, for all that limiters are asked. */
  readonly now = (): number => {
    const reading = this.#clock();
    // Set back, it would let leases live longer than they do.
    if (reading < this.#lastReading) this.#forgetAll();
    this.#lastReading = reading;
    return reading;
  };

  get(name: string): LocalLimiter {
    const known = this.#limiters.get(name);
    if (known !== undefined) return known;
    if (this.#limiters.size >= this.#max) this.#clear(this.now());
    const limiter = new LocalLimiter();
    this.#limiters.set(name, limiter);
    return limiter;
  }

  #forgetAll(): void {
    for (const limiter of this.#limiters.values()) limiter.forget();
  }

  /** Makes room: of those that hold nothing, or of all. A lost lease counts as used at its end. */
  #clear(now: number): void {
    for (const [name, limiter] of this.#limiters)
      if (limiter.isIdle(now)) this.#limiters.delete(name);
    if (this.#limiters.size >= this.#max) this.#limiters.clear();
  }
}
