import type { Micros } from "../../model/run-write.ts";
import { hashOf } from "../segments/hashes.ts";

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
