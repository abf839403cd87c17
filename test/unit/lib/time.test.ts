import fc from "fast-check";
import { describe, test } from "vitest";
import { parseTime } from "../../../src/lib/time.ts";

/** 2026-08-01T12:00:00Z. */
const NOON = 1_785_585_600_000_000;

describe("parseTime", () => {
  test.for([
    ["2026-08-01T12:00:00Z", NOON],
    ["2026-08-01T12:00:00", NOON],
    ["2026-08-01 12:00:00", NOON],
    ["2026-08-01t12:00:00z", NOON],
    ["2026-08-01T12:00", NOON],
    ["2026-08-01", NOON - 43_200_000_000],
    ["2026-08-01T12:00:00.1", NOON + 100_000],
    ["2026-08-01T12:00:00,123Z", NOON + 123_000],
    ["2026-08-01T12:00:00.123456Z", NOON + 123_456],
    ["2026-08-01T12:00:00.123456999", NOON + 123_456],
    ["2026-08-01T14:00:00.5+02:00", NOON + 500_000],
    ["2026-08-01T14:30:00+0230", NOON],
    ["2026-08-01T07:00:00-05", NOON],
    ["2026-08-01 12:00:00 +00:00", NOON],
    ["2024-02-29T00:00:00Z", 1_709_164_800_000_000],
    ["1970-01-01T00:00:00Z", 0],
    ["1970-01-01T01:00:00+01:00", 0],
    ["2255-06-05T23:47:34.740991Z", Number.MAX_SAFE_INTEGER],
    [1_785_585_600_000, NOON],
    [1_785_585_600_000.5, NOON + 500],
    [1_785_585_600_000.123, NOON + 123],
    [0, 0],
  ] as const)("reads %j", ([value, micros], { expect }) => {
    expect(parseTime(value)).toBe(micros);
  });

  test.for([
    "",
    "now",
    "1785585600000",
    "2026-08-01T",
    "2026-08-01T12",
    "2026-13-01T12:00:00Z",
    "2026-02-29T12:00:00Z",
    "2026-04-31",
    "2026-08-00T12:00:00Z",
    "2026-08-01T24:00:00Z",
    "2026-08-01T12:60:00Z",
    "2026-08-01T12:00:60Z",
    "2026-08-01T12:00:00.Z",
    "2026-08-01T12:00:00.1234567890Z",
    "2026-08-01T12:00:00+24:00",
    "2026-08-01T12:00:00 UTC",
    "2026-08-01T12:00:00Z\n",
    "0085-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999999Z",
    "1970-01-01T00:00:00+00:01",
    "2255-06-05T23:47:34.740992Z",
    "9999-12-31T23:59:59Z",
    -1,
    -0.0001,
    1e13,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    true,
    {},
    [1],
  ])("refuses %j", (value, { expect }) => {
    expect(parseTime(value)).toBeNull();
  });

  test("parses every formatted time of day, in any zone", ({ expect }) => {
    const micros = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER - 86_400_000_000 });
    fc.assert(
      fc.property(micros, fc.integer({ min: -1439, max: 1439 }), (time, offset) => {
        const local = time + offset * 60_000_000;
        fc.pre(local >= 0);
        const millis = Math.floor(local / 1000);
        const digits = String(local - millis * 1000).padStart(3, "0");
        const sign = offset < 0 ? "-" : "+";
        const hours = String(Math.floor(Math.abs(offset) / 60)).padStart(2, "0");
        const minutes = String(Math.abs(offset) % 60).padStart(2, "0");
        const text = new Date(millis)
          .toISOString()
          .replace("Z", `${digits}${sign}${hours}:${minutes}`);
        expect(parseTime(text)).toBe(time);
      }),
    );
  });
});
