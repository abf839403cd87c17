import fc from "fast-check";
import { describe, test } from "vitest";
import {
  decimalOf,
  divideRounded,
  formatCost,
  formatDecimal,
  parseCost,
  parseDecimal,
  toUnits,
} from "../../../../src/tracing/usage/money.ts";

describe("parseDecimal", () => {
  test.for([
    ["0", 0n, 0],
    ["-0.000", 0n, 0],
    ["00120", 12n, 1],
    ["3.5e-5", 35n, -6],
    ["3.50E-5", 35n, -6],
    ["1e21", 1n, 21],
    ["-12.25", -1225n, -2],
    ["+7", 7n, 0],
    ["0.0000025", 25n, -7],
  ] as const)("reads %s", ([text, digits, exponent], { expect }) => {
    expect(parseDecimal(text)).toEqual({ digits, exponent });
  });

  test.for(["", " 1", "1 ", ".5", "1.", "1e", "1e1.5", "0x10", "1_000", "NaN", "Infinity", "--1"])(
    "refuses %j",
    (text, { expect }) => {
      expect(parseDecimal(text)).toBeNull();
    },
  );

  test("refuses numbers that are not finite", ({ expect }) => {
    expect([NaN, Infinity, -Infinity].map(decimalOf)).toEqual([null, null, null]);
  });

  test("reads every finite double as its decimal text", ({ expect }) => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const decimal = decimalOf(value);
        expect(decimal).not.toBeNull();
        if (decimal === null) return;
        expect(Number(formatDecimal(decimal)) + 0).toBe(value + 0);
        expect(formatDecimal(decimal)).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
  });
});

describe("formatDecimal", () => {
  test.for([
    [35n, -6, "0.000035"],
    [65_000_000n, -12, "0.000065"],
    [-1225n, -2, "-12.25"],
    [12n, 3, "12000"],
    [100n, -2, "1"],
    [0n, -12, "0"],
    [5n, -1, "0.5"],
  ] as const)("writes %s * 10^%s", ([digits, exponent, text], { expect }) => {
    expect(formatDecimal({ digits, exponent })).toBe(text);
  });
});

describe("rounding", () => {
  test.for([
    [5n, 10n, 1n],
    [4n, 10n, 0n],
    [-5n, 10n, -1n],
    [-4n, 10n, 0n],
    [15n, 10n, 2n],
    [25n, 10n, 3n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
    [-2n, 3n, -1n],
  ] as const)("of %s / %s is half away from zero", ([dividend, divisor, result], { expect }) => {
    expect(divideRounded(dividend, divisor)).toBe(result);
  });

  test("is off by at most a half, and by a half only away from zero", ({ expect }) => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (dividend, divisor) => {
        const result = divideRounded(dividend, divisor);
        const error = 2n * (result * divisor - dividend);
        expect(error <= divisor && error >= -divisor).toBe(true);
        if (error === divisor) expect(dividend > 0n).toBe(true);
        if (error === -divisor) expect(dividend < 0n).toBe(true);
      }),
    );
  });

  test.for([
    ["0.0000000000005", 12, 1n],
    ["0.00000000000049999", 12, 0n],
    ["2", 12, 2_000_000_000_000n],
    ["1e3", 0, 1000n],
    ["1250", -1, 125n],
    ["1250", -2, 13n],
  ] as const)("turns %s into units of 10^-%s", ([text, decimals, units], { expect }) => {
    const decimal = parseDecimal(text);
    expect(decimal && toUnits(decimal, decimals)).toBe(units);
  });
});

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
