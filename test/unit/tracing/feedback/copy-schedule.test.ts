import { test } from "vitest";
import { nextCopyAttempt } from "../../../../src/tracing/feedback/copy-schedule.ts";

const MINUTE = 60_000;

test("pauses double up to an hour, and end after a day", ({ expect }) => {
  const attempts: number[] = [];
  let now: number | null = 0;
  while (now !== null) {
    attempts.push(now / MINUTE);
    now = nextCopyAttempt(0, now);
  }
  const hourly = Array.from({ length: 23 }, (_, hour) => 124 + 60 * hour);
  expect(attempts).toEqual([0, 1, 2, 4, 8, 16, 32, 64, ...hourly]);
});

test("a late attempt is followed by one within an hour", ({ expect }) => {
  expect(nextCopyAttempt(0, 500 * MINUTE)).toBe(560 * MINUTE);
  expect(nextCopyAttempt(0, 24 * 60 * MINUTE - 1)).toBe(25 * 60 * MINUTE - 1);
  expect(nextCopyAttempt(0, 24 * 60 * MINUTE)).toBeNull();
});
