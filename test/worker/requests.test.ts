import { env } from "cloudflare:workers";
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, beforeAll, describe, inject, test, vi } from "vitest";
import { createApp } from "../../src/app.ts";
import { migrateIndex } from "./support.ts";

const app = createApp();

beforeAll(() => migrateIndex(inject("migrations")));

afterEach(() => {
  vi.restoreAllMocks();
});

type Sent = { method?: string; headers?: Record<string, string>; body?: string; vars?: object };

async function send(path: string, { method = "GET", headers = {}, body, vars = {} }: Sent = {}) {
  const ctx = createExecutionContext();
  const request = new Request(new URL(path, "http://localhost"), {
    method,
    headers,
    body: body ?? null,
  });
  const bindings = { ...env, LOG_LEVEL: "error", ...vars };
  const response = await app.fetch(request, bindings, ctx);
  await response.clone().arrayBuffer();
  await waitOnExecutionContext(ctx);
  return response;
}

describe("a request without a key", () => {
  test("is counted by its address, whatever users it names", async ({ expect }) => {
    const counted = async (user: string, address: string): Promise<string> => {
      const headers = { "x-user-id": user, "cf-connecting-ip": address };
      const { status, headers: answered } = await send("/api/v1/sessions", {
        headers,
        vars: { RATE_LIMITS: "on" },
      });
      return `${status} ${/^"([\w-]+)"/.exec(answered.get("ratelimit-policy") ?? "")?.[1]}`;
    };
    const answers = new Map<string, number>();
    for (let sent = 0; sent < 103; sent += 1) {
      const answer = await counted(`user ${sent}`, "203.0.113.7");
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    expect(Object.fromEntries(answers)).toEqual({ "401 default-user": 100, "429 public": 3 });
    expect(await counted("user 0", "203.0.113.8")).toBe("401 default-user");
  });
});

describe("the log of requests", () => {
  const SECRET = "11111111-2222-4333-8444-555555555555";
  const ID = "6f1c6a52-0f0e-4a3c-9a54-2f1f6a1c2b3d";

  test.for<[sent: string, logged: Record<string, string | null>]>([
    [`GET /threads/${ID}/state`, { route: "/threads/:thread_id/state", thread_id: ID }],
    [`GET /threads/${SECRET.replace("1", "x")}`, { route: "/threads/:thread_id" }],
    [
      `GET /api/v2/public/${SECRET}/run/${ID}`,
      { route: "/api/v2/public/:share_token/run/:run_id", run_id: ID },
    ],
    [`GET /api/v1/public/${SECRET}/run`, { route: "/api/v1/public/:share_token/run" }],
    [`PUT /v2/uploads/${SECRET}`, { route: "/v2/uploads/:token" }],
    [`GET /api/v1/attachments/${SECRET}`, { route: "/api/v1/attachments/:token" }],
    [`GET /api/v1/feedback/tokens/${SECRET}`, { route: "/api/v1/feedback/tokens/:token" }],
    [`GET /v2/auth/wait/${SECRET}`, { route: "/v2/auth/wait/:auth_id" }],
    [`GET /v2/auth/callback/google?state=${SECRET}`, { route: "/v2/auth/callback/:provider_id" }],
    [`GET /api/v1/nothing/${SECRET}`, { route: null }],
  ])("has the route and ids of %s, and no token", async ([sent, logged], { expect }) => {
    const lines: string[] = [];
    for (const level of ["log", "info", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((line: unknown) => void lines.push(String(line)));
    }
    const [method = "", path = ""] = sent.split(" ");
    await send(path, { method, vars: { LOG_LEVEL: "debug", SIGNING_SECRET: "of this test" } });
    expect(lines.join("\n")).not.toContain(SECRET);
    const request = lines.map((line) => JSON.parse(line)).find(({ event }) => event === "request");
    const general = new Set("level event request_id method status ms workspace".split(" "));
    const where = Object.entries(request).filter(([name]) => !general.has(name));
    expect(Object.fromEntries(where)).toEqual(logged);
  });
});

describe("a server without keys", () => {
  const OPEN = { AGENT_AUTH: "none", RATE_LIMITS: "off" };

  test.for([
    [{}, 200],
    [{ origin: "http://localhost:3000" }, 200],
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
  ] as const)(
    "accepts requests of local pages only: %j is %i",
    async ([headers, status], { expect }) => {
      const sent = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
      const answer = await send("/threads/count", { ...sent, body: "{}", vars: OPEN });
      expect(answer.status).toBe(status);
      if (status === 403) expect(await answer.text()).toContain("TRUSTED_HOSTS");
    },
  );

  test("accepts them at local addresses only, unless others are listed", async ({ expect }) => {
    const sent = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    const byHost = (vars: object) =>
      send("http://rebound.example/threads/count", { ...sent, vars });
    expect((await byHost(OPEN)).status).toBe(403);
    expect((await byHost({ ...OPEN, TRUSTED_HOSTS: "rebound.example" })).status).toBe(200);
    expect((await byHost({ ...OPEN, AGENTS_DOMAIN: "rebound.example" })).status).toBe(200);
    expect((await byHost({ AGENT_AUTH: "api-key" })).status).toBe(401);
  });
});

describe("an invalid Host", () => {
  test.for([
    ["a:b:c", "http://a:b:c/ok"],
    ["a:99999", "http://a:99999/ok"],
    ["[", "http://[/ok"],
    ["a, b", "http://a, b/ok"],
    ["a/threads?", "http://a/threads?/ok"],
    ["user@a", "http://user@a/ok"],
  ])("gets a 400, and is logged: %s", async ([host = "", url], { expect }) => {
    const logged = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const request = new Request("http://localhost/ok", { headers: { host } });
    // A request with such a URL cannot be constructed, but the runtime receives them.
    Object.defineProperty(request, "url", { value: url });
    const ctx = createExecutionContext();
    const response = await app.fetch(request, { ...env, LOG_LEVEL: "warn" }, ctx);
    expect([response.status, await response.json()]).toEqual([
      400,
      { detail: "The header Host must be one host name, with a port or without" },
    ]);
    expect(JSON.parse(String(logged.mock.calls[0]))).toMatchObject({
      event: "request",
      status: 400,
    });
  });
});
