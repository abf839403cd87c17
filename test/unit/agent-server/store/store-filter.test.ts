import { describe, test } from "vitest";
import { matchesFilter } from "../../../../src/agent-server/store/store-filter.ts";
import { matchesNamespace } from "../../../../src/agent-server/store/store-filter.ts";

describe("matchesFilter", () => {
  const value = { n: 5, s: "b", o: { x: [1, 2] }, z: null };

  test.for([
    [{}, true],
    [{ n: 5 }, true],
    [{ n: 5, s: "c" }, false],
    [{ o: { x: [1, 2] } }, true],
    [{ o: { x: [2, 1] } }, false],
    [{ z: null }, true],
    [{ missing: null }, false],
    [{ n: { $gt: 4, $lte: 5 } }, true],
    [{ n: { $gt: 5 } }, false],
    [{ n: { $gte: 5 } }, true],
    [{ n: { $lt: 5 } }, false],
    [{ s: { $gt: "a" } }, true],
    [{ s: { $gt: 1 } }, false],
    [{ n: { $ne: 6 } }, true],
    [{ n: { $eq: 5 } }, true],
  ] as const)("returns the result for %j: %j", ([filter, expected], { expect }) => {
    expect(matchesFilter(value, filter)).toBe(expected);
  });

  test("throws on an unknown operator", ({ expect }) => {
    expect(() => matchesFilter(value, { n: { $near: 5 } })).toThrow('"$near"');
  });
});

describe("matchesNamespace", () => {
  test.for([
    [{}, true],
    [{ prefix: ["a"] }, true],
    [{ prefix: ["a", "*"] }, true],
    [{ prefix: ["b"] }, false],
    [{ suffix: ["c"] }, true],
    [{ suffix: ["*", "c"] }, true],
    [{ suffix: ["b"] }, false],
    [{ prefix: ["a", "b", "c", "d"] }, false],
  ] as const)("returns for a.b.c and %j: %j", ([conditions, expected], { expect }) => {
    expect(matchesNamespace(["a", "b", "c"], conditions)).toBe(expected);
  });
});
