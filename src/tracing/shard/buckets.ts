import type { Micros } from "../../lib/time.ts";
import { hashOf } from "./segments/segment.ts";

/** How many buckets a project's days have for traces that start at `from` or later. */
type BucketRaise = { from: Micros; buckets: number };

/**
 * Into how many shards a project's days are divided, in the order of time. A trace belongs to the plan of the time
 * at which it started, as its first dotted segment says: all of its runs tell that, on whatever day and however late
 * they come, so that they are together, under the same number on each of their days.
 */
export type BucketPlan = { first: number; raises: readonly BucketRaise[] };

/** More would make a page of a day's runs ask too many shards. */
export const MAX_BUCKETS = 64;

/**
 * How long before it counts a raise is written down. By then every isolate knows of it, as it reads a project
 * anew after ten seconds; the rest is for clients whose clocks are ahead.
 */
export const RAISE_AHEAD_MICROS = 60_000_000;

/** Reads a row of D1's `projects`. */
export function readBucketPlan(row: { buckets: number; bucket_raises: string | null }): BucketPlan {
  const raises =
    row.bucket_raises === null ? [] : (JSON.parse(row.bucket_raises) as [number, number][]);
  return { first: row.buckets, raises: raises.map(([from, buckets]) => ({ from, buckets })) };
}

/** What a row of D1's `projects` keeps of a plan. */
export function writeRaises({ raises }: BucketPlan): string {
  return JSON.stringify(raises.map(({ from, buckets }) => [from, buckets]));
}

/** How many buckets there are for a trace that starts then. */
export function bucketsAt({ first, raises }: BucketPlan, start: Micros): number {
  return raises.findLast(({ from }) => from <= start)?.buckets ?? first;
}

/** The bucket of a trace. */
export function bucketOf(plan: BucketPlan, traceId: string, start: Micros): number {
  const buckets = bucketsAt(plan, start);
  return buckets === 1 ? 0 : hashOf(traceId) % buckets;
}

/**
 * The plan with which shards, of which one has `load` times as much to do as it should, have no more than that;
 * null when it is that already, or nothing can be done. What is raised but does not count yet, or only since
 * a moment ago, has not eased the load that was measured.
 */
export function raisedPlan(plan: BucketPlan, load: number, now: Micros): BucketPlan | null {
  const loaded = bucketsAt(plan, now - RAISE_AHEAD_MICROS);
  const wanted = Math.min(2 ** Math.ceil(Math.log2(loaded * load)), MAX_BUCKETS);
  const planned = plan.raises.at(-1)?.buckets ?? plan.first;
  if (!(wanted > planned)) return null;
  const from = Math.max(now + RAISE_AHEAD_MICROS, plan.raises.at(-1)?.from ?? 0);
  return { ...plan, raises: [...plan.raises, { from, buckets: wanted }] };
}

/** What a shard is to do in a second at most, so that it has room for what comes all of a sudden, and for questions. */
type LoadLimits = {
  requests: number;
  writes: number;
  /** Each time that the shard has grown by so many bytes, it asks for twice as many buckets. */
  bytes: number;
};

/**
 * Less than half of what an object can do. Cloudflare names 1,000 requests a second and 10 GB; 15,000 writes of runs were
 * measured on a core with nothing else to do (docs/performance.md), of which a third is counted on.
 */
const LOAD_LIMITS: LoadLimits = { requests: 300, writes: 2_000, bytes: 2 * 1024 ** 3 };

/** Long enough that a burst is none, and so short that a load which grows is noticed while it does. */
const WINDOW_MS = 5_000;

/** How much a shard has to do. Times are epoch milliseconds. */
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
   * Notes a request. When that ends a window in which there was too much to do, it returns how many times as much
   * as there should be; null otherwise.
   */
  note(writes: number, bytes: number, now: number): number | null {
    this.#requests += 1;
    this.#writes += writes;
    this.#since ??= now;
    const steps = Math.floor(bytes / this.#limits.bytes);
    // What it had when it was opened, it has asked for before.
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
