import { describe, test } from "vitest";
import { allowedHeaders } from "../../../../src/agent-server/auth/host-answers.ts";

const line = (name: string, value = "1") => ({ name, value });

describe("allowedHeaders", () => {
  test("keeps authentication and retry headers, and the project's own", ({ expect }) => {
    const headers = [
      line("WWW-Authenticate", 'Bearer realm="a"'),
      line("retry-after"),
      line("x-tea"),
    ];
    expect(allowedHeaders(headers)).toEqual([
      line("www-authenticate", 'Bearer realm="a"'),
      line("retry-after"),
      line("x-tea"),
    ]);
  });

  test.for([
    "set-cookie",
    "Set-Cookie",
    "clear-site-data",
    "link",
    "location",
    "refresh",
    "strict-transport-security",
    "access-control-allow-origin",
    "Access-Control-Allow-Credentials",
    "content-type",
    "content-length",
    "transfer-encoding",
    "content-encoding",
    "cache-control",
    "service-worker-allowed",
    "x-accel-redirect",
    "X-Sendfile",
    "x-frame-options",
    "x-request-id",
    "x-ratelimit-limit",
    "x-pagination-total",
    "x-ignored-fields",
    "x-a b",
    "x-ä",
    "x-",
    "",
  ])("drops %j", (name, { expect }) => {
    expect(allowedHeaders([line(name)])).toEqual([]);
  });

  test("drops invalid values, and limits their number", ({ expect }) => {
    const values = ["a\r\nset-cookie: b", "a\0", "\u{1f600}", "x".repeat(2001)];
    expect(allowedHeaders(values.map((value) => line("x-a", value)))).toEqual([]);
    expect(allowedHeaders(Array.from({ length: 50 }, () => line("x-a")))).toHaveLength(20);
  });
});
