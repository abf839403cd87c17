import { describe, vi } from "vitest";
import { answerOf, send } from "../support/http.ts";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { answerWithout, routesWithIds, statusOfMissing } from "../support/tenancy.ts";
import { MISSING_ID } from "../support/uuid.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testWithSharedServer();

const MISSING_KEY = { detail: "Missing API key: send it as X-Api-Key" };
const INVALID_KEY = { detail: "Invalid API key" };

function search(server: TestServer, headers: Record<string, string>) {
  return answerOf(send(server, "POST", "/threads/search", {}, headers));
}

describe("an API key", () => {
  test("is required", async ({ server, expect }) => {
    for (const headers of [{}, { "x-api-key": "" }, { authorization: "Basic dGVzdA==" }]) {
      expect(await search(server, headers)).toEqual({ status: 401, body: MISSING_KEY });
    }
  });

  test("must exist", async ({ server, expect }) => {
    const { apiKey } = await makeWorkspace(server, "exists");
    for (const key of ["nonsense", `${apiKey}x`, apiKey.slice(0, -1), apiKey.toUpperCase()]) {
      expect(await search(server, { "x-api-key": key })).toEqual({
        status: 401,
        body: INVALID_KEY,
      });
    }
  });

  test("can be sent in either header", async ({ server, expect }) => {
    const { apiKey } = await makeWorkspace(server, "headers");
    expect((await search(server, { "x-api-key": apiKey })).status).toBe(200);
    expect((await search(server, { authorization: `Bearer ${apiKey}` })).status).toBe(200);
    expect((await search(server, { authorization: `bearer ${apiKey}` })).status).toBe(200);
  });

  test("may be sent twice, but not beside a different one", async ({ server, expect }) => {
    const { apiKey } = await makeWorkspace(server, "twice");
    const { apiKey: other } = await makeWorkspace(server, "beside");
    const sent = async (path: string, ...keys: string[]) => {
      const headers = new Headers({ "content-type": "application/json" });
      for (const key of keys) headers.append("x-api-key", key);
      return (await server.fetch(path, { method: "POST", headers, body: "{}" })).status;
    };
    for (const path of ["/threads/search", "/api/v1/runs/query", "/api/v2/runs/query"]) {
      const isKnown = (status: number) => status !== 401;
      const seen = [
        await sent(path, apiKey, apiKey),
        await sent(path, apiKey, other),
        await sent(path, apiKey, ""),
      ];
      expect([path, ...seen.map(isKnown)]).toEqual([path, true, false, false]);
    }
  });

  test("no longer works once it is revoked", async ({ server, expect }) => {
    const { apiKey, revoke } = await makeWorkspace(server, "revoked");
    expect((await search(server, { "x-api-key": apiKey })).status).toBe(200);
    await revoke();
    expect(await search(server, { "x-api-key": apiKey })).toEqual({
      status: 401,
      body: INVALID_KEY,
    });
  });

  test("starts no run some seconds after it is revoked", async ({ server, expect }) => {
    const { apiKey, revoke } = await makeWorkspace(server, "revoked runs");
    const run = async () => {
      const headers = { "x-api-key": apiKey, "content-type": "application/json" };
      const body = JSON.stringify({ assistant_id: "appender", input: { messages: [] } });
      return (await server.fetch("/runs/wait", { method: "POST", headers, body })).status;
    };
    expect(await run()).toBe(200);
    await revoke();
    await expect.poll(run, { timeout: 150_000 }).toBe(401);
  });

  test("gives access to its own workspace only", async ({ server, expect }) => {
    const { id, apiKey } = await makeWorkspace(server, "own");
    const other = await makeWorkspace(server, "other");
    const asking = (tenant: string) =>
      search(server, { "x-api-key": apiKey, "x-tenant-id": tenant });
    expect((await asking(id)).status).toBe(200);
    expect((await asking(id.toUpperCase())).status).toBe(200);
    expect(await asking(other.id)).toEqual({
      status: 403,
      body: { detail: "X-Tenant-Id is not the workspace of this API key" },
    });
  });

  test("records when it was used", async ({ server, expect }) => {
    const { id, apiKey } = await makeWorkspace(server, "used");
    const lastUse = async () => {
      const sql = "SELECT last_used_at FROM api_keys WHERE workspace_id = ?";
      return (await server.database.run(sql, [id]))[0]?.["last_used_at"];
    };
    expect(await lastUse()).toBeNull();
    const before = Date.now();
    await search(server, { "x-api-key": apiKey });
    const used = Number(await vi.waitUntil(lastUse, 60_000));
    expect(used).toBeGreaterThanOrEqual(before);
    expect(used).toBeLessThanOrEqual(Date.now());
  });

  test("is not needed where there is nothing to protect", async ({ server, expect }) => {
    for (const path of ["/ok", "/ok?check_db=1", "/info", "/openapi.json", "/docs"]) {
      expect([path, (await send(server, "GET", path)).status]).toEqual([path, 200]);
    }
    const preflight = await server.fetch("/threads", {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
  });

  test("is checked before anything else about a route is revealed", async ({ server, expect }) => {
    for (const route of await routesWithIds(server)) {
      // These routes need a token instead.
      if (/\{(?:share_)?token\}/.test(route.path)) continue;
      // An event of GitHub needs a signature instead.
      if (route.path.endsWith("/github-webhook")) continue;
      // These routes need the `state` of the query instead.
      if (route.method === "GET" && /^\/v2\/auth\/(?:callback|setup)\//.test(route.path)) continue;
      const path = route.path
        .replace("{assistant_id}", "agent")
        .replace("{namespace}", "child")
        .replaceAll(/\{\w+\}/g, MISSING_ID);
      const answer = await answerOf(send(server, route.method, path));
      // The newer routes answer with more than the text.
      expect([route, answer]).toMatchObject([route, { status: 401, body: MISSING_KEY }]);
    }
  });

  test("is still required from a client that pretends to be the Studio", async ({
    server,
    expect,
  }) => {
    const answer = await search(server, { "x-auth-scheme": "langsmith" });
    expect(answer).toEqual({ status: 401, body: MISSING_KEY });
  });
});

describe("workspaces", () => {
  test("do not see each other's resources", async ({ server, expect }) => {
    const mine = await makeWorkspace(server, "mine");
    const theirs = await makeWorkspace(server, "theirs");
    const [client, other] = [mine, theirs].map(({ apiKey }) => server.client({ apiKey }));
    if (client === undefined || other === undefined) throw new Error("There are two clients");
    const { thread_id } = await client.threads.create({ metadata: { secret: 1 } });
    await client.assistants.create({ graphId: "agent", name: "secret" });
    expect(await other.threads.search({ ids: [thread_id] })).toEqual([]);
    expect(await other.threads.count()).toBe(0);
    expect(await other.assistants.search({ name: "secret" })).toEqual([]);
    expect(await client.threads.search()).toHaveLength(1);
    const theirOwn = await other.threads.create({ threadId: thread_id });
    expect(theirOwn.metadata).toEqual({});
    await other.threads.delete(thread_id);
    expect((await client.threads.get(thread_id)).metadata).toEqual({ secret: 1 });
  });

  test("have separate stores", async ({ server, expect }) => {
    const namespace = ["shared"];
    const results = async (apiKey: string, operations: object[]) => {
      const client = server.client({ apiKey });
      const values = await client.runs.wait(null, "store", { input: { operations } });
      return (values as { results: unknown[] }).results;
    };
    const mine = await makeWorkspace(server, "my store");
    const theirs = await makeWorkspace(server, "their store");
    const get = { op: "get", namespace, key: "k" };
    const put = { op: "put", namespace, key: "k", value: { secret: 1 } };
    expect(await results(mine.apiKey, [put, get])).toEqual([null, { secret: 1 }]);
    const search = { op: "search", prefix: [] };
    expect(await results(theirs.apiKey, [get, search])).toEqual([null, []]);
  });

  test("treat each other's ids like ids that do not exist", async ({ server, expect }) => {
    const mine = await makeWorkspace(server, "owner");
    const theirs = await makeWorkspace(server, "stranger");
    const client = server.client({ apiKey: mine.apiKey });
    const { assistant_id } = await client.assistants.create({ graphId: "branching" });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, assistant_id, { input: {} });
    const [run] = await client.runs.list(thread_id);
    const { checkpoint } = await client.threads.getState(thread_id);
    const cron: object = await client.crons.create(assistant_id, { schedule: "0 0 1 1 *" });
    const foreign = {
      thread_id,
      assistant_id,
      run_id: run?.run_id ?? "",
      checkpoint_id: checkpoint.checkpoint_id ?? "",
      namespace: "child",
      cron_id: "cron_id" in cron ? String(cron.cron_id) : "",
    };
    const missing = {
      thread_id: crypto.randomUUID(),
      assistant_id: crypto.randomUUID(),
      run_id: crypto.randomUUID(),
      checkpoint_id: crypto.randomUUID(),
      namespace: "child",
      cron_id: crypto.randomUUID(),
    };
    const before = await client.threads.get(thread_id);
    const routes = (await routesWithIds(server)).filter(
      // Components belong to a project by name, not to a workspace.
      ({ path }) => !/^\/(?:api|v[12]|ui)\//.test(path),
    );
    expect(routes.length).toBeGreaterThan(20);
    for (const route of routes) {
      const request = { apiKey: theirs.apiKey, body: bodyFor(route.path, foreign) };
      const answer = await answerWithout(server, route, foreign, request);
      expect([route, answer]).toEqual([
        route,
        await answerWithout(server, route, missing, request),
      ]);
      expect([route, answer.status]).toEqual([route, statusOfMissing(route)]);
    }
    expect(await client.threads.get(thread_id)).toEqual(before);
    expect((await client.runs.list(thread_id)).length).toBe(1);
    expect((await client.assistants.get(assistant_id)).version).toBe(1);
  });
});

/** Returns a body that the route would accept from the owner. */
function bodyFor(path: string, ids: { checkpoint_id: string }): unknown {
  if (path.endsWith("/runs/crons")) return { assistant_id: "branching", schedule: "0 0 1 1 *" };
  if (path.startsWith("/threads/{thread_id}/runs") && !path.includes("{run_id}")) {
    return { assistant_id: "branching", input: {} };
  }
  if (path.endsWith("/state/checkpoint")) {
    return { checkpoint: { checkpoint_id: ids.checkpoint_id } };
  }
  if (path.endsWith("/latest")) return { version: 1 };
  return {};
}

describe("a key of the tracing API", () => {
  test("no longer works some seconds after it is revoked", async ({ server, expect }) => {
    const { apiKey, revoke } = await makeWorkspace(server, "revoked tracing");
    const sessions = () => server.fetch("/api/v1/sessions", { headers: { "x-api-key": apiKey } });
    expect((await sessions()).status).toBe(200);
    await revoke();
    await expect.poll(async () => (await sessions()).status).toBe(401);
  });
});
