import fc from "fast-check";
import { describe, test } from "vitest";
import {
  type Histogram,
  mergeHistograms,
  percentile,
} from "../../../../src/tracing/model/histogram.ts";

function histogramOf(values: readonly number[]): Histogram {
  return mergeHistograms(values.map((value) => [{ value, count: 1 }]));
}

function expected(values: readonly number[], fraction: number): number | null {
  const sorted = values.toSorted((left, right) => left - right);
  const rank = fraction * (sorted.length - 1);
  const lower = sorted[Math.floor(rank)];
  const upper = sorted[Math.ceil(rank)];
  if (lower === undefined || upper === undefined) return null;
  return lower + (upper - lower) * (rank - Math.floor(rank));
}

const values = fc.array(fc.integer({ min: -1000, max: 1000 }), { maxLength: 40 });
const fractions = fc.constantFrom(0, 0.25, 0.5, 0.99, 1);

describe("a histogram", () => {
  test("has the percentiles of its values", ({ expect }) => {
    fc.assert(
      fc.property(values, fractions, (values, fraction) => {
        const [actual, wanted] = [
          percentile(histogramOf(values), fraction),
          expected(values, fraction),
        ];
        if (wanted === null) expect(actual).toBeNull();
        else expect(actual).toBeCloseTo(wanted, 9);
      }),
    );
  });

  test("is independent of the parts that it is merged from", ({ expect }) => {
    fc.assert(
      fc.property(fc.array(values), (parts) => {
        const merged = mergeHistograms(parts.map(histogramOf));
        expect(merged).toEqual(histogramOf(parts.flat()));
        const all = merged.map(({ value }) => value);
        expect(all).toEqual([...new Set(all)].toSorted((left, right) => left - right));
      }),
    );
  });

  test.for<[values: number[], fraction: number, wanted: number | null]>([
    [[], 0.5, null],
    [[7], 0.99, 7],
    [[1, 2], 0.5, 1.5],
    [[1, 1, 1, 9], 0.5, 1],
    [[0, 10], 0.99, 9.9],
  ])("has for %j at %d: %d", ([values, fraction, wanted], { expect }) => {
    expect(percentile(histogramOf(values), fraction)).toBe(wanted);
  });
});
