import { env } from "cloudflare:workers";
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, describe, test, vi } from "vitest";
import { createApp } from "../../src/app.ts";

const app = createApp();

/** Limiters that never answer. */
const BROKEN_LIMITERS = {
  getByName: () => ({ take: () => Promise.reject(new Error("no object here")) }),
};
const BROKEN_DATABASE = {
  prepare: () => {
    throw new Error("no database here");
  },
};

async function request(path: string, key: string, bindings: object): Promise<Response> {
  const ctx = createExecutionContext();
  const init = { headers: { "x-api-key": key } };
  const response = await app.fetch(
    new Request(`http://localhost${path}`, init),
    { ...env, LOG_LEVEL: "error", RATE_LIMITS: "on", ...bindings },
    ctx,
  );
  await response.clone().arrayBuffer();
  await waitOnExecutionContext(ctx);
  return response;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("requests are admitted", () => {
  test("when their object fails, with one log line a minute", async ({ expect }) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.UTC(2030, 0, 1));
    for (const afterMs of [0, 1_000, 5_000, 60_000]) {
      now.mockReturnValue(Date.UTC(2030, 0, 1) + afterMs);
      const response = await request("/api/v1/info", "", { RATE_LIMITERS: BROKEN_LIMITERS });
      expect(response.status).toBe(200);
      expect(response.headers.get("x-ratelimit-limit")).toBe("2000");
      expect(response.headers.get("ratelimit-policy")).toMatch(/^"service";q=2000;w=10;/);
      expect(response.headers.has("ratelimit")).toBe(false);
    }
    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown);
    const line = {
      level: "error",
      event: "rate_limiter_unreachable",
      limit: "service",
      error: "Error: no object here",
    };
    expect(lines).toEqual([line, line]);
  });

  test("and counted by their key while its validity is unknown", async ({ expect }) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const response = await request("/api/v1/sessions", "tw_key", { DB: BROKEN_DATABASE });
    expect(response.status).toBe(500);
    expect(response.headers.get("ratelimit")).toMatch(/^"default";r=999;t=10;/);
  });
});
