import { describe, test } from "vitest";
import {
  InvalidFilterError,
  parseAuthFilter,
} from "../../../../src/agent-server/auth/parse-filter.ts";

const LIST_WITH_GAP: unknown[] = Object.assign([], { length: 1 });

function problemOf(filter: Record<string, unknown>): string {
  try {
    return JSON.stringify(parseAuthFilter(filter));
  } catch (error) {
    if (error instanceof InvalidFilterError) return error.message;
    throw error;
  }
}

function nested(depth: number): Record<string, unknown> {
  return depth === 0 ? { owner: "a" } : { $and: [nested(depth - 1)] };
}

describe("a filter that a handler returns", () => {
  test.for([
    [{ owner: undefined }, "owner must be a text, a number or a boolean"],
    [{ owner: null }, "owner must be a text, a number or a boolean"],
    [{ owner: ["a"] }, "owner must be a text, a number or a boolean"],
    [{ owner: Number.NaN }, "owner must be a text, a number or a boolean"],
    [{ owner: "\ud800" }, "owner must be a text, a number or a boolean"],
    [{ owner: "a\0b" }, "owner must be a text, a number or a boolean"],
    [{ owner: { $eq: undefined } }, "owner.$eq must be a text, a number or a boolean"],
    [{ owner: {} }, "owner has no operator"],
    [{ owner: { $ne: "a" } }, "owner.$ne is not an operator"],
    [{ owner: { $eq: "a", $like: "b" } }, "owner.$like is not an operator"],
    [{ owner: { eq: "a" } }, "owner.eq is not an operator"],
    [{ groups: { $contains: [] } }, "groups.$contains must not be an empty list"],
    [{ groups: { $contains: [{}] } }, "groups.$contains must be a text, a number or a boolean"],
    [{ $or: [] }, "$or must be a list with at least one filter"],
    [{ $and: [] }, "$and must be a list with at least one filter"],
    [{ $or: { owner: "a" } }, "$or must be a list with at least one filter"],
    [{ $or: [{ owner: "a" }, 7] }, "$or[1] must be an object"],
    [{ $or: [{ $and: [{ $no: 1 }] }] }, "$or[0].$and[0].$no is not an operator"],
    [{ $not: [{ owner: "a" }] }, "$not is not an operator"],
    [nested(5), "$or and $and nest more than 4 deep"],
    [
      { groups: { $contains: Array.from({ length: 101 }, String) } },
      "A filter has at most 100 conditions",
    ],
    [JSON.parse('{"__proto__":{"$eq":"a"}}'), "__proto__ cannot be a metadata key"],
    [JSON.parse('{"$or":[{"__proto__":"a"}]}'), "$or[0].__proto__ cannot be a metadata key"],
    [new Map([["owner", "a"]]), "The filter must be an object"],
    [{ $or: [new Set(["owner"])] }, "$or[0] must be an object"],
    [{ $or: [new Date(0)] }, "$or[0] must be an object"],
    [{ $or: LIST_WITH_GAP }, "$or[0] must be an object"],
    [{ a: { $contains: LIST_WITH_GAP } }, "a.$contains must be a text, a number or a boolean"],
    [{ owner: new Map() }, "owner must be a text, a number or a boolean"],
  ] as const)("is refused rather than ignored: %j", ([filter, problem], { expect }) => {
    expect(problemOf(filter)).toBe(problem);
  });

  test("is accepted only if all of it is valid", ({ expect }) => {
    expect(
      parseAuthFilter({ owner: "a", groups: { $contains: ["x", 1] }, $or: [{}, nested(0)] }),
    ).toEqual({
      op: "all",
      of: [
        { op: "all", of: [{ op: "equals", key: "owner", value: "a" }] },
        {
          op: "all",
          of: [
            { op: "contains", key: "groups", value: "x" },
            { op: "contains", key: "groups", value: 1 },
          ],
        },
        {
          op: "any",
          of: [
            { op: "all", of: [] },
            { op: "all", of: [{ op: "all", of: [{ op: "equals", key: "owner", value: "a" }] }] },
          ],
        },
      ],
    });
  });

  test("can nest up to the maximum depth", ({ expect }) => {
    expect(problemOf(nested(4))).toContain('"owner"');
  });
});
