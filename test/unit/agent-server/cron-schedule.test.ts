import { describe, test } from "vitest";
import { isTimezone, nextTick, scheduleFault } from "../../../src/agent-server/crons/schedule.ts";
import { runIdOfTick } from "../../../src/lib/cron-tick.ts";

const CRON = "018f2b44-6f00-7a11-8000-0123456789ab";

function next(schedule: string, timezone: string | null, after: string, end?: string) {
  const end_time = end === undefined ? null : Date.parse(end);
  const tick = nextTick({ schedule, timezone, end_time }, Date.parse(after));
  return tick === null ? null : new Date(tick).toISOString();
}

describe("the next tick", () => {
  test.for([
    ["each minute", "* * * * *", null, "2026-11-22T16:00:30Z", "2026-11-22T16:01:00.000Z"],
    ["is later than now", "0 16 * * *", null, "2026-11-22T16:00:00Z", "2026-11-23T16:00:00.000Z"],
    ["on weekdays", "30 9 * * MON-FRI", null, "2026-11-20T10:00:00Z", "2026-11-23T09:30:00.000Z"],
    ["on either day", "0 0 13 * FRI", null, "2026-11-07T00:00:00Z", "2026-11-13T00:00:00.000Z"],
    [
      "on a 29th of February",
      "0 0 29 2 *",
      null,
      "2026-01-01T00:00:00Z",
      "2028-02-29T00:00:00.000Z",
    ],
    ["by a nickname", "@daily", null, "2026-11-22T16:00:00Z", "2026-11-23T00:00:00.000Z"],
    ["in a zone", "0 9 * * *", "Asia/Tokyo", "2026-11-22T16:00:00Z", "2026-11-23T00:00:00.000Z"],
    ["in winter", "0 9 * * *", "Europe/Berlin", "2026-10-24T08:00:00Z", "2026-10-25T08:00:00.000Z"],
    ["in summer", "0 9 * * *", "Europe/Berlin", "2026-03-28T09:00:00Z", "2026-03-29T07:00:00.000Z"],
  ] as const)("%s", ([, schedule, timezone, after, expected], { expect }) => {
    expect(next(schedule, timezone, after)).toBe(expected);
  });

  test("occurs once in an hour that the clock shows twice", ({ expect }) => {
    const first = next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z");
    expect(first).toBe("2026-10-25T00:30:00.000Z");
    expect(next("30 2 * * *", "Europe/Berlin", first ?? "")).toBe("2026-10-26T01:30:00.000Z");
  });

  test("may be at the end, but not after it", ({ expect }) => {
    const after = "2026-11-22T16:30:00Z";
    expect(next("0 * * * *", null, after, "2026-11-22T17:00:00Z")).toBe("2026-11-22T17:00:00.000Z");
    expect(next("0 * * * *", null, after, "2026-11-22T16:59:59Z")).toBe(null);
  });
});

describe("a schedule", () => {
  test.for(["* * * * *", " 0  9 * * 1 ", "*/5 0-6 1,15 JAN-MAR *", "@hourly", "0 0 L * *"])(
    "is valid: %j",
    (schedule, { expect }) => {
      expect(scheduleFault(schedule)).toBe(null);
    },
  );

  test.for([
    ["* * * * * *", /five parts/],
    ["2026-12-24T18:00:00", /five parts/],
    ["tomorrow", /five parts/],
    ["@reboot", /five parts/],
    ["60 * * * *", /minute/],
    ["a b c d e", /cron expression/],
    ["0 0 30 2 *", /no tick/],
  ] as const)("is invalid: %j", ([schedule, fault], { expect }) => {
    expect(scheduleFault(schedule)).toMatch(fault);
  });

  test("must have a known time zone", ({ expect }) => {
    const names = ["UTC", "Europe/Berlin", "Middle/Earth", "", "x".repeat(1000)];
    expect(names.map(isTimezone)).toEqual([true, true, false, false, false]);
  });
});

describe("the id of a tick's run", () => {
  const at = Date.parse("2026-11-22T16:00:00Z");

  test("is the same each time", ({ expect }) => {
    expect(runIdOfTick({ cronId: CRON, at })).toBe(runIdOfTick({ cronId: CRON, at }));
  });

  test("differs between ticks and crons, and sorts by the time of the tick", ({ expect }) => {
    const id = runIdOfTick({ cronId: CRON, at });
    const later = runIdOfTick({ cronId: CRON, at: at + 60_000 });
    const other = runIdOfTick({ cronId: CRON.replace("b", "c"), at });
    expect(new Set([id, later, other]).size).toBe(3);
    expect(id < later).toBe(true);
  });
});
