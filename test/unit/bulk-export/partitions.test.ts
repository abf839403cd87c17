import fc from "fast-check";
import { assert, test } from "vitest";
import { partitionByDay } from "../../../src/bulk-export/execution/partitions.ts";

const DAY = 86_400_000_000;

test("a range within a day is one part", () => {
  assert.deepEqual(partitionByDay({ start: 5, end: DAY }), [{ start: 5, end: DAY }]);
});

test("midnight belongs to the day that begins with it", () => {
  assert.deepEqual(partitionByDay({ start: DAY - 1, end: DAY + 1 }), [
    { start: DAY - 1, end: DAY },
    { start: DAY, end: DAY + 1 },
  ]);
});

test("an empty range has no parts", () => {
  assert.deepEqual(partitionByDay({ start: DAY, end: DAY }), []);
});

test("the parts cover the range without overlap, each within one day", () => {
  const time = fc.integer({ min: 0, max: 400 * DAY });
  fc.assert(
    fc.property(time, time, (a, b) => {
      const range = { start: Math.min(a, b), end: Math.max(a, b) };
      const parts = partitionByDay(range);
      let at = range.start;
      for (const { start, end } of parts) {
        assert.equal(start, at);
        assert.isTrue(end > start);
        assert.equal(Math.floor(start / DAY), Math.floor((end - 1) / DAY));
        at = end;
      }
      assert.equal(at, range.end);
    }),
  );
});
