import type { Micros } from "../../lib/time.ts";
import { hashOf } from "./segments/segment.ts";

/** The number of buckets of a project's days for traces that start at `from` or later. */
type BucketRaise = { from: Micros; buckets: number };

/**
 * The number of shards into which a project's days are divided, over time. A trace belongs to the plan of the time
 * at which it started, which is in its first dotted segment: all of its runs contain that, on whatever day and
 * however late they arrive. So they are stored together, under the same bucket number on each of their days.
 */
export type BucketPlan = { first: number; raises: readonly BucketRaise[] };

/** Maximum number of buckets: with more, a page of a day's runs would have to query too many shards. */
export const MAX_BUCKETS = 64;

/**
 * How long before it takes effect a raise is stored. By then every isolate knows of it, because it reads a project
 * again after ten seconds; the rest is for clients whose clocks are ahead.
 */
export const RAISE_AHEAD_MICROS = 60_000_000;

/** Reads the plan from a row of D1's `projects`. */
export function readBucketPlan(row: { buckets: number; bucket_raises: string | null }): BucketPlan {
  const raises =
    row.bucket_raises === null ? [] : (JSON.parse(row.bucket_raises) as [number, number][]);
  return { first: row.buckets, raises: raises.map(([from, buckets]) => ({ from, buckets })) };
}

/** Returns what a row of D1's `projects` stores of a plan. */
export function writeRaises({ raises }: BucketPlan): string {
  return JSON.stringify(raises.map(({ from, buckets }) => [from, buckets]));
}

/** Returns the number of buckets for a trace that starts at a time. */
export function bucketsAt({ first, raises }: BucketPlan, start: Micros): number {
  return raises.findLast(({ from }) => from <= start)?.buckets ?? first;
}

/** Returns the bucket of a trace. */
export function bucketOf(plan: BucketPlan, traceId: string, start: Micros): number {
  const buckets = bucketsAt(plan, start);
  return buckets === 1 ? 0 : hashOf(traceId) % buckets;
}

/**
 * Returns the plan with enough buckets, if a shard has `load` times as much work as it should have. Returns null
 * if the plan has enough of them already, or as many as there can be. A raise that has not taken effect yet, or only
 * a moment ago, has not reduced the measured load.
 */
export function raisedPlan(plan: BucketPlan, load: number, now: Micros): BucketPlan | null {
  const loaded = bucketsAt(plan, now - RAISE_AHEAD_MICROS);
  const wanted = Math.min(2 ** Math.ceil(Math.log2(loaded * load)), MAX_BUCKETS);
  const planned = plan.raises.at(-1)?.buckets ?? plan.first;
  if (!(wanted > planned)) return null;
  const from = Math.max(now + RAISE_AHEAD_MICROS, plan.raises.at(-1)?.from ?? 0);
  return { ...plan, raises: [...plan.raises, { from, buckets: wanted }] };
}

/** Maximum work of a shard per second, which leaves room for sudden load and for queries. */
type LoadLimits = {
  requests: number;
  writes: number;
  /** Each time that the shard has grown by this many bytes, it requests twice as many buckets. */
  bytes: number;
};

/**
 * Less than half of what an object can do. Cloudflare documents 1,000 requests a second and 10 GB. On a core with
 * nothing else to do, 15,000 writes of runs a second were measured (docs/performance.md); a third is relied on.
 */
const LOAD_LIMITS: LoadLimits = { requests: 300, writes: 2_000, bytes: 2 * 1024 ** 3 };

/** Long enough to ignore a burst, and short enough to notice growing load while it grows. */
const WINDOW_MS = 5_000;

/** Measures the load of a shard. Times are epoch milliseconds. */
export class LoadMeter {
  readonly #limits: LoadLimits;
  #since: number | null = null;
  #requests = 0;
  #writes = 0;
  #grownTo: number | null = null;

  constructor(limits: LoadLimits = LOAD_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Notes a request. If that ends a window with too much work, it returns how many times as much there was as there
   * should be; otherwise null.
   */
  note(writes: number, bytes: number, now: number): number | null {
    this.#requests += 1;
    this.#writes += writes;
    this.#since ??= now;
    const steps = Math.floor(bytes / this.#limits.bytes);
    // For the size that it had when it was opened, it has requested buckets before.
    const hasGrown = this.#grownTo !== null && steps > this.#grownTo;
    this.#grownTo = Math.max(steps, this.#grownTo ?? 0);
    const seconds = (now - this.#since) / 1000;
    if (seconds * 1000 < WINDOW_MS) return hasGrown ? 2 : null;
    const load = Math.max(
      this.#requests / seconds / this.#limits.requests,
      this.#writes / seconds / this.#limits.writes,
      hasGrown ? 2 : 0,
    );
    this.#since = now;
    this.#requests = 0;
    this.#writes = 0;
    return load > 1 ? load : null;
  }
}
