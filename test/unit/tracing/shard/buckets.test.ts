import fc from "fast-check";
import { describe, test } from "vitest";
import {
  bucketOf,
  type BucketPlan,
  bucketsAt,
  LoadMeter,
  MAX_BUCKETS,
  RAISE_AHEAD_MICROS,
  raisedPlan,
  readBucketPlan,
  writeRaises,
} from "../../../../src/tracing/shard/buckets.ts";

const SECOND = 1_000_000;
/** How long an isolate caches the plan of a project, in microseconds. */
const STALE = 10 * SECOND;
/** How far a client's clock may be ahead, in microseconds. */
const AHEAD = 45 * SECOND;
const ONE: BucketPlan = { first: 1, raises: [] };

/** Generates the successive plans of a project, each with the time from which it can be read. */
const histories = fc
  .array(fc.record({ wait: fc.nat(300 * SECOND), load: fc.double({ min: 0.1, max: 20 }) }))
  .map((steps) => {
    let plan = ONE;
    let now = 1_000 * SECOND;
    const history = [{ since: 0, plan }];
    for (const { wait, load } of steps) {
      now += wait;
      plan = raisedPlan(plan, load, now) ?? plan;
      history.push({ since: now, plan });
    }
    return { history, end: now };
  });

describe("the bucket of a trace", () => {
  test("is the same for all of its runs, whatever an isolate knows when they arrive", ({
    expect,
  }) => {
    fc.assert(
      fc.property(
        histories,
        fc.uuid(),
        fc.array(fc.record({ arrival: fc.nat(), stale: fc.nat(STALE) }), { minLength: 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(AHEAD),
        ({ history, end }, traceId, runs, place, ahead) => {
          const start = Math.floor(end * place) + ahead;
          const buckets = runs.map(({ arrival, stale }) => {
            // No run arrives before its trace has started by the client's clock.
            const now = start - ahead + (arrival % (400 * SECOND));
            const known = history.findLast(({ since }) => since <= Math.max(now - stale, 0));
            return bucketOf(known?.plan ?? ONE, traceId, start);
          });
          expect(new Set(buckets).size).toBe(1);
          expect(buckets[0]).toBeLessThan(bucketsAt(history.at(-1)?.plan ?? ONE, start));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("is read back as it was written", ({ expect }) => {
    fc.assert(
      fc.property(histories, ({ history }) => {
        for (const { plan } of history) {
          const row = { buckets: plan.first, bucket_raises: writeRaises(plan) };
          expect(readBucketPlan(row)).toEqual(plan);
        }
      }),
    );
    expect(readBucketPlan({ buckets: 3, bucket_raises: null })).toEqual({ first: 3, raises: [] });
  });
});

describe("a plan", () => {
  test("has as many buckets as the load needs, but not at once", ({ expect }) => {
    const now = 5_000 * SECOND;
    const plan = raisedPlan(ONE, 2.5, now);
    expect(plan).toEqual({ first: 1, raises: [{ from: now + RAISE_AHEAD_MICROS, buckets: 4 }] });
    if (plan === null) return;
    // The other shards find the same a moment later, and measurements before the raise takes effect add nothing.
    expect(raisedPlan(plan, 2.5, now + SECOND)).toBeNull();
    expect(raisedPlan(plan, 3.9, now + RAISE_AHEAD_MICROS + SECOND)).toBeNull();
    const later = now + 2 * RAISE_AHEAD_MICROS;
    expect(raisedPlan(plan, 1.5, later)?.raises.at(-1)?.buckets).toBe(8);
  });

  test("is never lowered, and has an upper bound", ({ expect }) => {
    fc.assert(
      fc.property(histories, ({ history }) => {
        const { raises } = history.at(-1)?.plan ?? ONE;
        for (const [index, raise] of raises.entries()) {
          const before = raises[index - 1] ?? { from: 0, buckets: 1 };
          expect(raise.buckets).toBeGreaterThan(before.buckets);
          expect(raise.buckets).toBeLessThanOrEqual(MAX_BUCKETS);
          expect(raise.from).toBeGreaterThanOrEqual(before.from);
        }
      }),
    );
    expect(raisedPlan({ first: MAX_BUCKETS, raises: [] }, 100, SECOND)).toBeNull();
    expect(raisedPlan(ONE, Number.NaN, SECOND)).toBeNull();
  });
});

describe("a shard's load", () => {
  const limits = { requests: 10, writes: 100, bytes: 1_000 };

  test("is too high if a window of seconds exceeds a shard's limit", ({ expect }) => {
    const meter = new LoadMeter(limits);
    const told = Array.from({ length: 11 }, (_, second) => meter.note(250, 0, second * 1000));
    expect(told.filter((load) => load !== null)).toEqual([3, 2.5]);
  });

  test("is not too high if nothing follows a burst", ({ expect }) => {
    const meter = new LoadMeter(limits);
    for (let index = 0; index < 40; index += 1) expect(meter.note(1, 0, index)).toBeNull();
    expect(meter.note(1, 0, 60_000)).toBeNull();
  });

  test("doubles each time that the shard has grown by its limit", ({ expect }) => {
    const meter = new LoadMeter(limits);
    const sizes = [2_500, 2_600, 3_001, 3_002, 3_999, 4_000];
    expect(sizes.map((bytes) => meter.note(1, bytes, 0))).toEqual([null, null, 2, null, null, 2]);
  });
});

/** Simulates how shards handle the runs that are sent, in steps of a tenth of a second. Excess writes wait. */
function simulate(writesPerSecond: (second: number) => number, seconds: number) {
  const limits = { requests: 300, writes: 2_000, bytes: Infinity };
  const canDo = 5_000;
  const startedAt = 1_000 * SECOND;
  let plan = ONE;
  const known: { at: number; plan: BucketPlan }[] = [{ at: 0, plan }];
  const meters = new Map<number, LoadMeter>();
  const waiting = new Map<number, number>();
  let busiest = 0;
  let longest = 0;
  for (let step = 0; step < seconds * 10; step += 1) {
    const now = startedAt + step * 100_000;
    // Traces last for some seconds: half of the writes belong to traces that began five seconds before.
    for (const age of [0, 5 * SECOND]) {
      const seen = known.findLast(({ at }) => at <= now - STALE)?.plan ?? ONE;
      const buckets = bucketsAt(seen, now - age);
      const each = writesPerSecond((now - age - startedAt) / SECOND) / 20 / buckets;
      for (let bucket = 0; bucket < buckets; bucket += 1) {
        waiting.set(bucket, (waiting.get(bucket) ?? 0) + each);
      }
    }
    busiest = 0;
    longest = 0;
    for (const [bucket, writes] of waiting) {
      const done = Math.min(writes, canDo / 10);
      waiting.set(bucket, writes - done);
      busiest = Math.max(busiest, done * 10);
      longest = Math.max(longest, (writes - done) / canDo);
      const meter = meters.get(bucket) ?? new LoadMeter(limits);
      meters.set(bucket, meter);
      const load = meter.note(done, 0, now / 1000);
      const raised = load === null ? null : raisedPlan(plan, load, now);
      if (raised === null) continue;
      plan = raised;
      known.push({ at: now, plan });
    }
  }
  return { plan, busiest, longest };
}

describe("a project whose load grows tenfold in a minute", () => {
  const grows = (second: number): number => 1_000 * (1 + 9 * Math.min(Math.max(second, 0) / 60, 1));

  test("is spread until no shard is overloaded and nothing waits, and then stays unchanged", ({
    expect,
  }) => {
    const { plan, busiest, longest } = simulate(grows, 360);
    expect(busiest).toBeLessThanOrEqual(2_000);
    expect(longest).toBe(0);
    const { buckets = 1 } = plan.raises.at(-1) ?? {};
    expect(buckets).toBeGreaterThanOrEqual(5);
    expect(buckets).toBeLessThanOrEqual(16);
    expect(simulate(grows, 3_600).plan).toEqual(plan);
  });

  test("has one shard a day if the load stays small", ({ expect }) => {
    expect(simulate(() => 1_500, 600).plan).toEqual(ONE);
  });
});
