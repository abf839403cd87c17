import { describe, test } from "vitest";
import { tokenExpiry } from "../../../../src/tracing/feedback/feedback-token.ts";
import { tokensCreateSchema } from "../../../../src/tracing/api/v1/feedback/schemas.ts";

const NOW = Date.UTC(2026, 7, 1);
const HOUR = 3_600_000;

describe("tokenExpiry", () => {
  test.for([
    [{}, NOW + 3 * HOUR],
    [{ expires_in: null, expires_at: null }, NOW + 3 * HOUR],
    [{ expires_in: {} }, NOW],
    [{ expires_in: { days: 1, hours: 2, minutes: 30 } }, NOW + 26.5 * HOUR],
    [{ expires_in: { minutes: 1 } }, NOW + 60_000],
    [{ expires_at: (NOW + HOUR) * 1000 + 999 }, NOW + HOUR],
  ] as const)("returns for %j: %j", ([given, expected], { expect }) => {
    expect(tokenExpiry(given, NOW)).toBe(expected);
  });
});

describe("tokensCreateSchema", () => {
  const token = { run_id: "0198c0de-0000-7000-8000-000000000001", feedback_key: "k" };

  test("accepts one token or a list", ({ expect }) => {
    const expires_at = "2026-08-01T00:00:00Z";
    expect(tokensCreateSchema.parse({ ...token, expires_at })).toEqual({
      ...token,
      expires_at: NOW * 1000,
    });
    expect(tokensCreateSchema.parse([token, token])).toEqual([token, token]);
  });

  test.for([
    [{ expires_in: { hours: 1 }, expires_at: "2026-08-01T00:00:00Z" }],
    [{ expires_in: { hours: -1 } }],
    [{ expires_in: { hours: 1.5 } }],
    [{ expires_in: { days: 1e9 } }],
    [{ expires_in: { weeks: 1 } }],
    [{ feedback_key: "" }],
    [{ run_id: "none" }],
  ])("refuses %j", ([given], { expect }) => {
    expect(tokensCreateSchema.safeParse({ ...token, ...given }).success).toBe(false);
  });
});
