import { describe } from "vitest";
import { send } from "../support/http.ts";
import { limitedVars, newLimitedKey } from "../support/limited-workspace.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testWithServer(
  limitedVars({
    auth: { count: 2, seconds: 3600 },
    default: { count: 2, seconds: 3600 },
    "runs-query": { count: 3, seconds: 3600 },
  }),
);

const onHosts = testWithServer({ RATE_LIMITS: "on", API_HOST: "127.0.0.1" });
const switchedOff = testWithServer({ RATE_LIMITS: "off" });

const LIMITED = ["ratelimit", "ratelimit-policy", "retry-after"].concat(
  ["limit", "remaining", "reset"].map((name) => `x-ratelimit-${name}`),
);

function limitHeaders({ headers }: { headers: Headers }): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => LIMITED.includes(name)));
}

/** Returns the name of the limit that counted a request, or null if none did. */
function limitOf({ headers }: { headers: Headers }): string | null {
  return /^"([\w-]+)"/.exec(headers.get("ratelimit-policy") ?? "")?.[1] ?? null;
}

function get(server: TestServer, path: string, headers: Record<string, string> = {}) {
  return send(server, "GET", path, undefined, headers);
}

describe("the other region", () => {
  test("requests plans without a limit", async ({ server, expect }) => {
    const answer = await get(server, "/api/v1/internal/plans/one");
    expect([answer.status, limitOf(answer)]).toEqual([401, null]);
    expect(limitOf(await get(server, "/api/v1/internal/plans"))).not.toBeNull();
  });
});

describe("a request over the limit", () => {
  test("has an error in the tracing API's format", async ({ server, expect }) => {
    const headers = { "x-api-key": await newLimitedKey(server) };
    const answers = [];
    for (let count = 0; count < 3; count += 1) {
      answers.push(await get(server, "/api/v1/sessions", headers));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    const [first, , refused] = answers;
    if (first === undefined || refused === undefined) throw new Error("There are three answers");
    const pk = /pk=:[\w+/]+=*:/.exec(first.headers.get("ratelimit") ?? "")?.[0];
    const policy = {
      "ratelimit-policy": `"default";q=2;w=3600;${pk}`,
      "x-ratelimit-limit": "2",
    };
    expect(limitHeaders(first)).toEqual({
      ...policy,
      ratelimit: `"default";r=1;t=3600;${pk}`,
      "x-ratelimit-remaining": "1",
      "x-ratelimit-reset": expect.stringMatching(/^\d{10}$/),
    });
    const seconds = refused.headers.get("retry-after");
    expect(limitHeaders(refused)).toEqual({
      ...policy,
      ratelimit: `"default";r=0;t=${seconds};${pk}`,
      "retry-after": expect.stringMatching(/^3(59\d|60[01])$/),
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": expect.stringMatching(/^\d{10}$/),
    });
    expect(refused.headers.get("content-type")).toBe("application/json");
    expect(refused.body).toEqual({
      detail: `Rate limit exceeded: 2 requests in 3600 seconds. Try again in ${seconds} seconds.`,
    });
  });

  test("has a problem as its body below /api/v2, and a detail in the control plane", async ({
    server,
    expect,
  }) => {
    const headers = { "x-api-key": await newLimitedKey(server) };
    for (const path of ["/api/v2/runs", "/v2/auth/providers"]) {
      for (let count = 0; count < 2; count += 1) {
        expect((await get(server, path, headers)).status).not.toBe(429);
      }
    }
    const problem = await get(server, "/api/v2/runs", headers);
    expect(problem.headers.get("content-type")).toBe("application/problem+json");
    expect(problem.body).toEqual({
      type: "about:blank",
      title: "Too Many Requests",
      status: 429,
      detail: expect.stringMatching(/^Rate limit exceeded: 2 requests in 3600 seconds\. Try again/),
      instance: "/api/v2/runs",
    });
    const detail = await get(server, "/v2/auth/providers", headers);
    expect([detail.status, limitOf(detail)]).toEqual([429, "auth"]);
    expect(detail.body).toEqual({
      detail: expect.stringMatching(/^Rate limit exceeded: 2 requests/),
    });
  });

  test("can be read by a page of another origin", async ({ server, expect }) => {
    const headers = { "x-api-key": await newLimitedKey(server), origin: "https://app.example" };
    for (let count = 0; count < 2; count += 1) await get(server, "/api/v1/sessions", headers);
    const refused = await get(server, "/api/v1/sessions", headers);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
    const exposed = refused.headers.get("access-control-expose-headers")?.split(",");
    expect(exposed).toEqual(expect.arrayContaining(LIMITED));
  });
});

describe("the counters", () => {
  test("include missing paths, and requests that are refused for other reasons", async ({
    server,
    expect,
  }) => {
    const key = { "x-api-key": await newLimitedKey(server) };
    const elsewhere = { ...key, "x-tenant-id": crypto.randomUUID() };
    const answers = [
      await get(server, "/api/v1/nothing/here", key),
      await get(server, "/api/v1/sessions", elsewhere),
      await get(server, "/api/v1/other", key),
    ];
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toEqual([404, 403, 429]);
  });

  test("are separate for each limit and each key", async ({ server, expect }) => {
    const keys = [await newLimitedKey(server), await newLimitedKey(server)];
    for (const key of keys) {
      const statuses = [];
      for (let count = 0; count < 3; count += 1) {
        const headers = { "x-api-key": key };
        statuses.push((await get(server, "/api/v1/sessions", headers)).status);
        statuses.push((await send(server, "POST", "/api/v1/runs/query", {}, headers)).status);
      }
      expect(statuses.map((status) => status === 429)).toEqual([
        false,
        false,
        false,
        false,
        true,
        false,
      ]);
    }
  });

  test("count a key once, however it is sent", async ({ server, expect }) => {
    const key = await newLimitedKey(server);
    const statuses = [];
    for (const headers of [
      { "x-api-key": key },
      { authorization: `Bearer ${key}` },
      { "x-api-key": key },
    ]) {
      statuses.push((await get(server, "/api/v1/sessions", headers)).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });

  test("count an invalid key like none", async ({ server, expect }) => {
    const made = { "x-api-key": `tw_${"a".repeat(43)}` };
    const answer = await get(server, "/api/v1/sessions", made);
    expect([answer.status, limitOf(answer)]).toEqual([401, "public"]);
    const { apiKey, revoke } = await makeWorkspace(server, "revoked");
    await revoke();
    expect(limitOf(await get(server, "/api/v1/sessions", { "x-api-key": apiKey }))).toBe("public");
  });

  test("count a user together with the address, which a client cannot choose", async ({
    server,
    expect,
  }) => {
    const remaining = async (headers: Record<string, string>): Promise<string | null> => {
      const answer = await send(server, "DELETE", "/api/v1/sessions", undefined, headers);
      expect(limitOf(answer)).toBe("deletion-user");
      return answer.headers.get("x-ratelimit-remaining");
    };
    const user = { "x-user-id": "ada" };
    expect(await remaining(user)).toBe("29");
    expect(await remaining({ ...user, "x-forwarded-for": "203.0.113.9" })).toBe("28");
    expect(await remaining({ "x-user-id": "grace" })).toBe("29");
  });

  test("use the general limits for a workspace without its own", async ({ server, expect }) => {
    const { apiKey } = await makeWorkspace(server, "general");
    const answer = await get(server, "/api/v1/sessions", { "x-api-key": apiKey });
    expect(answer.headers.get("x-ratelimit-limit")).toBe("1000");
  });

  test("count multipart ingest against its own limit only", async ({ server, expect }) => {
    const key = await newLimitedKey(server);
    for (let count = 0; count < 3; count += 1) {
      await get(server, "/api/v1/sessions", { "x-api-key": key });
    }
    const body = new FormData();
    body.set("feedback", new Blob(["{}"], { type: "application/json" }));
    const response = await server.fetch("/api/v1/runs/multipart", {
      method: "POST",
      headers: { "x-api-key": key },
      body,
    });
    expect(response.status).not.toBe(429);
    expect([limitOf(response), response.headers.get("x-ratelimit-limit")]).toEqual([
      "runs-multipart",
      "6000",
    ]);
  });
});

describe("the agent server", () => {
  test("is not limited, on the same port", async ({ server, expect }) => {
    const answers = [
      await get(server, "/info"),
      await get(server, "/ok"),
      await get(server, "/openapi.json"),
      await send(server, "POST", "/assistants/search", {}),
      await send(server, "OPTIONS", "/threads"),
    ];
    expect(answers.map((answer) => [answer.status, limitHeaders(answer)])).toEqual([
      [200, {}],
      [200, {}],
      [200, {}],
      [200, {}],
      [204, {}],
    ]);
    expect(limitOf(await send(server, "OPTIONS", "/api/v1/runs"))).toBe("service");
  });
});

describe("on separate hosts", () => {
  onHosts(
    "all requests to the tracing API's host are limited, with and without a prefix in the path",
    async ({ server, expect }) => {
      const { apiKey } = await makeWorkspace(server, "hosts");
      const headers = { "x-api-key": apiKey };
      const limits = [];
      for (const [method, path] of [
        ["GET", "/info"],
        ["GET", "/api/v1/info"],
        ["GET", "/ok"],
        ["OPTIONS", "/anything"],
        ["POST", "/v1/beacon"],
        ["POST", "/v1/metadata/submit"],
        ["POST", "/runs/query"],
        ["POST", "/api/v1/runs/query"],
        ["POST", "/v2/runs/query"],
        ["GET", "/nothing"],
      ] as const) {
        const body = method === "POST" ? {} : undefined;
        limits.push(limitOf(await send(server, method, path, body, headers)));
      }
      expect(limits).toEqual([
        "service",
        "service",
        "default",
        "service",
        "beacon",
        "service",
        "runs-query",
        "runs-query",
        "runs-query",
        "default",
      ]);
    },
  );

  onHosts("a host that serves nothing has no limits", async ({ server, expect }) => {
    const { port } = new URL(server.url);
    const answer = await fetch(`http://localhost:${port}/api/v1/info`);
    expect([answer.status, limitOf(answer)]).toEqual([404, null]);
  });
});

switchedOff("RATE_LIMITS=off disables all limits", async ({ server, expect }) => {
  const answer = await get(server, "/api/v1/info");
  expect([answer.status, limitHeaders(answer)]).toEqual([200, {}]);
});
