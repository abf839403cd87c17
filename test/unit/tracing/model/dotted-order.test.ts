import fc from "fast-check";
import { describe, test } from "vitest";
import {
  formatDottedOrder,
  formatDottedSegment,
  parseDottedOrder,
} from "../../../../src/tracing/model/dotted-order.ts";

const ROOT = "0198c0de-0000-7000-8000-000000000001";
const CHILD = "0198c0de-0000-7000-8000-00000000000a";

describe("formatDottedSegment", () => {
  test("writes the time with microseconds, and the id", ({ expect }) => {
    expect(formatDottedSegment(1_785_585_600_000_001, ROOT)).toBe(`20260801T120000000001Z${ROOT}`);
    expect(formatDottedSegment(0, ROOT)).toBe(`19700101T000000000000Z${ROOT}`);
  });
});

describe("parseDottedOrder", () => {
  test("reads the runs from the root on", ({ expect }) => {
    expect(
      parseDottedOrder(`20260801T120000000001Z${ROOT}.20260801T120001999999Z${CHILD}`),
    ).toEqual([
      { time: 1_785_585_600_000_001, id: ROOT },
      { time: 1_785_585_601_999_999, id: CHILD },
    ]);
  });

  test("gives ids in lower case", ({ expect }) => {
    expect(parseDottedOrder(`20260801T120000000001Z${CHILD.toUpperCase()}`)).toEqual([
      { time: 1_785_585_600_000_001, id: CHILD },
    ]);
  });

  test("reads what formatDottedSegment writes", ({ expect }) => {
    const segment = fc.record({
      time: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      id: fc.uuid(),
    });
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 20 }), (segments) => {
        expect(parseDottedOrder(formatDottedOrder(segments))).toEqual(segments);
      }),
    );
  });

  test("sorts runs by their times", ({ expect }) => {
    const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(time, time, (one, other) => {
        const texts = [formatDottedSegment(one, ROOT), formatDottedSegment(other, ROOT)];
        expect(texts.toSorted()).toEqual(one <= other ? texts : texts.toReversed());
      }),
    );
  });

  test.for([
    "",
    ".",
    ROOT,
    `20260801T120000000001Z${ROOT}.`,
    `20260801T120000000001${ROOT}`,
    `20260801T120000001Z${ROOT}`,
    `20260801T120000000001Z${ROOT.replaceAll("-", "")}`,
    `20261301T120000000001Z${ROOT}`,
    `20260801T250000000001Z${ROOT}`,
    `99991231T000000000000Z${ROOT}`,
    `19691231T235959999999Z${ROOT}`,
    `20260801T120000000001Z${ROOT} `,
    `20260801T120000000001Z${ROOT}x`,
    `20260801T120000000001Z${ROOT.slice(0, -1)}g`,
  ])("refuses %j", (text, { expect }) => {
    expect(parseDottedOrder(text)).toBeNull();
  });

  test("accepts up to a thousand levels", ({ expect }) => {
    const segment = `20260801T120000000001Z${ROOT}`;
    const levels = (count: number): string =>
      Array.from({ length: count }, () => segment).join(".");
    expect(parseDottedOrder(levels(1000))?.length).toBe(1000);
    expect(parseDottedOrder(levels(1001))).toBeNull();
  });
});
