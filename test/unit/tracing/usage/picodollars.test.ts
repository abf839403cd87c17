import fc from "fast-check";
import { describe, test } from "vitest";
import { formatCost, parseCost } from "../../../../src/tracing/usage/picodollars.ts";

describe("formatCost", () => {
  test.for([
    [0, "0"],
    [1, "0.000000000001"],
    [65_000_000, "0.000065"],
    [1_000_000_000_000, "1"],
    [12_340_000_000_000, "12.34"],
    [-2_500_000, "-0.0000025"],
    [Number.MAX_SAFE_INTEGER, "9007.199254740991"],
    [1.5, "0.000000000002"],
  ] as const)("writes %s picodollars", ([picodollars, text], { expect }) => {
    expect(formatCost(picodollars)).toBe(text);
  });
});

describe("parseCost", () => {
  test.for([
    ["0.000065", 65_000_000],
    ["3.5e-5", 35_000_000],
    ["0.0000000000005", 1],
    ["0.0000000000004", 0],
    ["-1", -1_000_000_000_000],
    ["9007.199254740991", Number.MAX_SAFE_INTEGER],
    ["9007.199254740992", null],
    ["1e300", null],
    ["much", null],
    ["", null],
  ] as const)("reads %j", ([text, picodollars], { expect }) => {
    expect(parseCost(text)).toBe(picodollars);
  });

  test("reads numbers as they are written, not as they are stored", ({ expect }) => {
    expect(parseCost(0.1)).toBe(100_000_000_000);
    expect(parseCost(1.1e-12)).toBe(1);
    expect(parseCost(5e-324)).toBe(0);
    expect(parseCost(Number.NaN)).toBeNull();
  });

  test("reads what formatCost writes", ({ expect }) => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (picodollars) => {
        expect(parseCost(formatCost(picodollars))).toBe(picodollars);
      }),
    );
  });
});
