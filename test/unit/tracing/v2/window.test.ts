import fc from "fast-check";
import { describe, test } from "vitest";
import {
  decodeWindowCursor,
  encodeWindowCursor,
  windowOf,
} from "../../../../src/tracing/v2/window.ts";
import { NOON, RUN_ID } from "./support/placed-run.ts";

const DAY_MICROS = 86_400_000_000;

const CURSOR = {
  position: { startTime: NOON, id: RUN_ID },
  window: { from: NOON - 5, to: NOON + 5 },
};

describe("windowOf", () => {
  test("is the last day unless bounds are given", ({ expect }) => {
    expect(windowOf({}, null, NOON)).toEqual({ from: NOON - DAY_MICROS, to: NOON });
    expect(windowOf({ min_start_time: 1, max_start_time: null }, null, NOON)).toEqual({
      from: 1,
      to: NOON,
    });
    expect(windowOf({ max_start_time: 7 }, null, NOON)).toEqual({
      from: NOON - DAY_MICROS,
      to: 7,
    });
  });

  test("stays on later pages what it was on the first", ({ expect }) => {
    expect(windowOf({}, CURSOR, NOON + 1000)).toEqual(CURSOR.window);
    expect(windowOf({ min_start_time: 3 }, CURSOR, NOON)).toEqual({ from: 3, to: NOON + 5 });
  });
});

describe("a cursor", () => {
  test("comes back as it was", ({ expect }) => {
    const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(time, time, time, fc.uuid(), (startTime, from, to, id) => {
        const cursor = { position: { startTime, id }, window: { from, to } };
        expect(decodeWindowCursor(encodeWindowCursor(cursor))).toEqual(cursor);
      }),
    );
  });

  test("is not any text", ({ expect }) => {
    const [position = ""] = encodeWindowCursor(CURSOR).split(".");
    for (const text of ["", "x", position, `${position}.1`, `${position}.1.x`, "AAAA.1.2", "..1"]) {
      expect(decodeWindowCursor(text)).toBeNull();
    }
  });
});
