import { isLeased, type TakeAnswer, type TakeRequest } from "./sliding-window.ts";
import type { Limit } from "./policy.ts";

type HeldLease = { id: number; left: number; used: number; until: number };

export type Decision =
  | { kind: "admitted"; remaining: number }
  | { kind: "refused"; retryMs: number }
  /** The object that counts could not be reached. */
  | { kind: "uncounted" };

/** A request unanswered for this long will never be answered, because the request that sent it has ended. */
const ASKING_MS = 2_000;
/** How long the object is not called again after it could not be reached. */
const UNREACHABLE_MS = 5_000;
/** The clock stands still while code runs, so shorter measurements are meaningless. */
const MIN_MEASURED_MS = 20;
/** A new lease is requested when this share of the permits, or of the time, of the last one is left. */
const LOW_SHARE = 1 / 4;

/**
 * The permits of one limit and one client that this isolate holds, and what it knows of those held elsewhere.
 * Decides locally when it can, and otherwise says what to request from the object that counts.
 *
 * A lease's time starts before it is requested, so it never ends later here than in the object. Times are readings
 * of the isolate's clock; `forget` must be called when that was set back.
 */
export class LocalLimiter {
  #leases: HeldLease[] = [];
  /** Leases that have ended here and are not yet reported to the object. */
  #ended: HeldLease[] = [];
  /** The permits that nobody holds, as last reported by the object. */
  #free = 0;
  #refusedUntil = 0;
  #retryAt = 0;
  #unreachableUntil = 0;
  #askedForLeaseAt: number | null = null;
  /** Requests that are not answered yet, with the times when they were sent. */
  readonly #asked = new Map<TakeRequest, number>();
  /** Requests since `#measuredFrom`, from which the number during the next lease is estimated. */
  #requests = 0;
  #measuredFrom = 0;
  /**
   * Permits of the newest lease, and a maximum of the permits used in ended leases, halved with each later one.
   */
  #leased = 0;
  #lastUsed = 0;
  #leaseMs = 0;

  /** Decides on a request; returns null when the object must be asked. */
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

  /** Returns what to request from the object for a waiting request, including permits that will be needed soon. */
  askFor(limit: Limit, now: number): TakeRequest {
    return this.#request(limit, 1, this.#planLease(limit, now), now);
  }

  /** Returns what to request ahead of need, while no request waits; null when nothing is needed. */
  askAhead(limit: Limit, now: number): TakeRequest | null {
    if (now < this.#refusedUntil || now < this.#unreachableUntil) return null;
    const newest = this.#leases.at(-1);
    const isLow = this.#left() <= this.#leased * LOW_SHARE;
    const isOld = newest === undefined || newest.until - now <= this.#leaseMs * LOW_SHARE;
    const spare = isLow || isOld ? this.#planLease(limit, now) : 0;
    return spare === 0 ? null : this.#request(limit, 0, spare, now);
  }

  /**
   * Returns the report on an ended lease. Null when none of its permits is left, when it was already reported, or
   * when another lease is held: then requests are arriving, and one of them will report it.
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
      // Leased permits may be freed at any time, and asking for each of them would cost a call each.
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

  /** Drops everything that depends on the time. */
  forget(): void {
    for (const lease of this.#leases) this.#end(lease);
    this.#asked.clear();
    this.#refusedUntil = 0;
    this.#unreachableUntil = 0;
    this.#askedForLeaseAt = null;
    this.#measuredFrom = 0;
  }

  /** Whether the limiter can be dropped without losing anything but permits, which then count as used. */
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

/** The limiters of this isolate, keyed by the name of the object that counts for them. */
export class LocalLimiters {
  readonly #limiters = new Map<string, LocalLimiter>();
  readonly #clock: () => number;
  readonly #max: number;
  #lastReading = 0;

  constructor(clock: () => number, max = MAX_LIMITERS) {
    this.#clock = clock;
    this.#max = max;
  }

  /** The isolate's time, which callers must pass to the limiters. */
  readonly now = (): number => {
    const reading = this.#clock();
    // With a clock that was set back, leases would be used after they have ended in the object.
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

  /**
   * Makes room by dropping the idle limiters, or all if none is idle. A dropped lease counts as used when it ends.
   */
  #clear(now: number): void {
    for (const [name, limiter] of this.#limiters)
      if (limiter.isIdle(now)) this.#limiters.delete(name);
    if (this.#limiters.size >= this.#max) this.#limiters.clear();
  }
}
