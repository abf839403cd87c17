import { describe, test } from "vitest";
import {
  checkedFilters,
  completedOnly,
  windowOf,
} from "../../../../../src/tracing/api/v2/request-schemas.ts";
import { NOON } from "./support/read-run.ts";
import { ApiError } from "../../../../../src/lib/api-error.ts";
import { parseFilter } from "../../../../../src/tracing/filter/filter.ts";

const DAY_MICROS = 86_400_000_000;

describe("windowOf", () => {
  test("is the last day by default", ({ expect }) => {
    expect(windowOf({}, undefined, NOON)).toEqual({ from: NOON - DAY_MICROS, to: NOON });
    expect(windowOf({ min_start_time: 1, max_start_time: null }, undefined, NOON)).toEqual({
      from: 1,
      to: NOON,
    });
    expect(windowOf({ max_start_time: 7 }, undefined, NOON)).toEqual({
      from: NOON - DAY_MICROS,
      to: 7,
    });
  });

  test("is the same on later pages as on the first", ({ expect }) => {
    const window = { from: NOON - 5, to: NOON + 5 };
    expect(windowOf({}, window, NOON + 1000)).toEqual(window);
    expect(windowOf({ min_start_time: 3 }, window, NOON)).toEqual({ from: 3, to: NOON + 5 });
  });
});

function refusal(texts: Parameters<typeof checkedFilters>[1]): unknown {
  try {
    checkedFilters("body", texts);
  } catch (error) {
    if (error instanceof ApiError) return error.detail;
    throw error;
  }
  return null;
}

describe("checkedFilters", () => {
  test("treats an empty filter as none", ({ expect }) => {
    expect(checkedFilters("body", { filter: "", trace_filter: null })).toEqual({});
    const filter = 'eq(name, "a")';
    const tree_filter = 'has(tags, "b")';
    expect(checkedFilters("query", { filter, tree_filter })).toEqual({
      filter,
      treeFilter: tree_filter,
    });
  });

  test.for(["filter", "trace_filter", "tree_filter"] as const)(
    "names the wrong field and place: %s",
    (field, { expect }) => {
      expect(refusal({ [field]: "eq(nome, 1)" })).toEqual([
        {
          loc: ["body", field],
          msg: expect.stringMatching(/^at character 3: unknown field nome/),
          type: "filter_syntax",
        },
      ]);
    },
  );

  test("refuses filters that a shard would refuse for their size", ({ expect }) => {
    const many = Array.from({ length: 100 }, (_, index) => `eq(name, "${index}")`).join(", ");
    expect(refusal({ trace_filter: `or(${many})` })).toEqual([
      {
        loc: ["body", "trace_filter"],
        msg: expect.stringContaining("at most 80 are allowed"),
        type: "filter_syntax",
      },
    ]);
  });
});

describe("completedOnly", () => {
  test("adds to the filter that the run has succeeded", ({ expect }) => {
    expect(completedOnly(undefined)).toBe('eq(status, "success")');
    const both = completedOnly('and(eq(metadata_key, "a"), eq(metadata_value, "b"))');
    expect(parseFilter(both)).toMatchObject({
      kind: "and",
      operands: [
        parseFilter('and(eq(metadata_key, "a"), eq(metadata_value, "b"))'),
        parseFilter('eq(status, "success")'),
      ],
    });
  });
});
