import fc from "fast-check";
import { describe, test } from "vitest";
import type { Limit } from "../../../src/rate-limits/policy.ts";
import { simulate, type Traffic } from "./support/simulation.ts";

/** Approximate number of requests in a run, which then takes a fraction of a second. */
const REQUESTS = 5_000;

const limits: Limit[] = [
  { count: 1, seconds: 10 },
  { count: 10, seconds: 60 },
  { count: 15, seconds: 10 },
  { count: 30, seconds: 3600 },
  { count: 100, seconds: 60 },
  { count: 101, seconds: 1 },
  { count: 300, seconds: 10 },
  { count: 750, seconds: 600 },
];

const traffics = fc
  .record({
    limit: fc.constantFrom(...limits),
    isolates: fc.integer({ min: 1, max: 40 }),
    load: fc.double({ min: 0.2, max: 5, noNaN: true }),
    burst: fc.integer({ min: 1, max: 30 }),
    latencyMs: fc.integer({ min: 0, max: 300 }),
    faults: fc.constantFrom(0, 1, 5, 20),
    seed: fc.integer(),
  })
  .map((traffic): Traffic => {
    const intervals = Math.floor(REQUESTS / (traffic.load * traffic.limit.count));
    return Object.assign(traffic, { intervals: Math.min(12, Math.max(3, intervals)) });
  });

describe("permits", () => {
  test("never exceed the limit in any span of its length", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(traffics, async (traffic) => {
        const { admitted } = await simulate(traffic);
        expect(busiestSpan(admitted, traffic.limit)).toBeLessThanOrEqual(traffic.limit.count);
      }),
      { numRuns: 150 },
    );
  }, 120_000);

  test.for([
    { limit: { count: 1, seconds: 10 }, isolates: 3, load: 60, burst: 1 },
    { limit: { count: 15, seconds: 10 }, isolates: 5, load: 10, burst: 1 },
    { limit: { count: 30, seconds: 60 }, isolates: 5, load: 10, burst: 1 },
    { limit: { count: 10, seconds: 60 }, isolates: 2, load: 10, burst: 4 },
    { limit: { count: 300, seconds: 10 }, isolates: 20, load: 1.5, burst: 1 },
    { limit: { count: 750, seconds: 600 }, isolates: 20, load: 2, burst: 3 },
    { limit: { count: 1000, seconds: 10 }, isolates: 1, load: 5, burst: 20 },
    { limit: { count: 1000, seconds: 10 }, isolates: 10, load: 1.3, burst: 1 },
    { limit: { count: 1000, seconds: 10 }, isolates: 100, load: 2, burst: 1 },
    { limit: { count: 2000, seconds: 10 }, isolates: 30, load: 1.5, burst: 5 },
  ])(
    "are used for at least 95 % under steady overload: $limit.count in $limit.seconds s, $isolates isolates",
    async (traffic, { expect }) => {
      const intervals = 12;
      const { admitted } = await simulate({
        ...traffic,
        intervals,
        latencyMs: 60,
        faults: 0,
        seed: 1,
      });
      expect(busiestSpan(admitted, traffic.limit)).toBe(traffic.limit.count);
      expect(admitted.length / (traffic.limit.count * intervals)).toBeGreaterThanOrEqual(0.95);
    },
  );

  test.for([
    { isolates: 1, load: 0.8 },
    { isolates: 10, load: 0.3 },
    { isolates: 10, load: 0.5 },
    { isolates: 40, load: 0.4 },
  ])(
    "are all admitted below the limit, and few wait: $isolates isolates, $load of the limit",
    async (traffic, { expect }) => {
      const { admitted, refused, waited } = await simulate({
        ...traffic,
        limit: { count: 1000, seconds: 10 },
        burst: 1,
        intervals: 20,
        latencyMs: 60,
        faults: 0,
        seed: 1,
      });
      expect(refused).toBe(0);
      expect(waited / admitted.length).toBeLessThan(0.25);
    },
  );
});

/** Returns the maximum number of admissions in any span of the limit's length. */
function busiestSpan(admitted: readonly number[], { seconds }: Limit): number {
  let busiest = 0;
  let first = 0;
  for (const [index, at] of admitted.entries()) {
    while (at - (admitted[first] ?? 0) >= seconds * 1000) first += 1;
    busiest = Math.max(busiest, index - first + 1);
  }
  return busiest;
}
