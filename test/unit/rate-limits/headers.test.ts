import { describe, test } from "vitest";
import { rateLimitHeaders } from "../../../src/rate-limits/headers.ts";

const COUNTED = {
  name: "runs-query",
  limit: { count: 15, seconds: 10 },
  partition: `00112233445566ff${"a".repeat(48)}`,
};
const NOW = 1_700_000_000_500;

const POLICY = {
  "ratelimit-policy": '"runs-query";q=15;w=10;pk=:ABEiM0RVZv8=:',
  "x-ratelimit-limit": "15",
};

describe("rateLimitHeaders", () => {
  test("describe an admitted request", ({ expect }) => {
    const headers = rateLimitHeaders(COUNTED, { kind: "admitted", remaining: 3 }, NOW);
    expect(Object.fromEntries(headers)).toEqual({
      ...POLICY,
      ratelimit: '"runs-query";r=3;t=10;pk=:ABEiM0RVZv8=:',
      "x-ratelimit-remaining": "3",
      "x-ratelimit-reset": "1700000011",
    });
  });

  test.for([
    [1, "1"],
    [1000, "1"],
    [1001, "2"],
    [9_999, "10"],
  ] as const)(
    "describe a request that is refused for %d ms: %s s",
    ([retryMs, seconds], { expect }) => {
      const headers = rateLimitHeaders(COUNTED, { kind: "refused", retryMs }, NOW);
      expect(Object.fromEntries(headers)).toEqual({
        ...POLICY,
        ratelimit: `"runs-query";r=0;t=${seconds};pk=:ABEiM0RVZv8=:`,
        "retry-after": seconds,
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(1_700_000_001 + Number(seconds)),
      });
    },
  );

  test("describe only the limit of a request that was not counted", ({ expect }) => {
    expect(Object.fromEntries(rateLimitHeaders(COUNTED, { kind: "uncounted" }, NOW))).toEqual(
      POLICY,
    );
  });
});
