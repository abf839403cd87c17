import { describe, test } from "vitest";
import { windowOf } from "../../../../../src/tracing/api/v2/window.ts";
import { NOON } from "./support/read-run.ts";

const DAY_MICROS = 86_400_000_000;

describe("windowOf", () => {
  test("is the last day unless bounds are given", ({ expect }) => {
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

  test("stays on later pages what it was on the first", ({ expect }) => {
    const window = { from: NOON - 5, to: NOON + 5 };
    expect(windowOf({}, window, NOON + 1000)).toEqual(window);
    expect(windowOf({ min_start_time: 3 }, window, NOON)).toEqual({ from: 3, to: NOON + 5 });
  });
});
