import { expect, test } from "vitest";
import { MAX_SHIFT_MICROS } from "../../../../src/tracing/filter/run-key.ts";
import { FreeKeys } from "../../../../src/tracing/shard/free-keys.ts";

const TAKEN = new Error("UNIQUE constraint failed: runs.key: SQLITE_CONSTRAINT");

/** Writes rows of which each time has one key. Returns a function that counts the attempts of a write. */
function table(): (keys: FreeKeys, start: number) => number {
  const taken = new Set<number>();
  return (keys, start) => {
    let attempts = 0;
    keys.atFree(start, (time) => {
      attempts += 1;
      if (taken.has(time)) throw TAKEN;
      taken.add(time);
    });
    return attempts;
  };
}

test("a free key is looked for where the last one of the same start was found", () => {
  const keys = new FreeKeys();
  const write = table();
  expect(Array.from({ length: 50 }, () => write(keys, 7000))).toEqual([1, ...Array(49).fill(2)]);
  expect([6999, 6999, 6999].map((start) => write(keys, start))).toEqual([1, 52, 2]);
  // What is in memory only is found again.
  expect(write(new FreeKeys(), 7000)).toBe(53);
});

test("as many starts are remembered as there is room for", () => {
  const keys = new FreeKeys();
  const write = table();
  for (let start = 0; start < 3_000_000; start += 1000) {
    write(keys, start);
    write(keys, start);
  }
  expect(write(keys, 2_999_000)).toBe(2);
  expect(write(keys, 0)).toBe(3);
});

test("the search ends at the furthest time that a row may have, and at any other error", () => {
  const keys = new FreeKeys();
  let last = 0;
  const full = (time: number): void => {
    last = time;
    throw TAKEN;
  };
  expect(() => keys.atFree(5, full)).toThrow(TAKEN);
  expect(last).toBe(5 + MAX_SHIFT_MICROS);
  const failing = (): void => {
    throw new Error("disk full");
  };
  expect(() => keys.atFree(5, failing)).toThrow("disk full");
});
