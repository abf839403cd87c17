import type { Client } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import { defaultAssistantId } from "../../src/agent-server/assistants/assistant-id.ts";
import { bearer } from "../support/bearer.ts";
import {
  type AgentIds,
  agentRoutes,
  bodyFor,
  deletionsLast,
  makeThings as makeThingsOf,
  MISSING_IDS,
  targetOf,
  withoutIds,
  routesOfRuns,
} from "../support/agent-routes.ts";
import { answerOf, send } from "../support/http.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { answersOnce, type Route, statusOfMissing } from "../support/tenancy.ts";

const test = testWithServer({ AGENT_AUTH: "api-key" }, "custom-auth");

/** The event that a route fires first, and the keys of the value that its handler gets. */
const EVENTS: Record<string, string> = {
  "POST /assistants": "assistants:create assistant_id graph_id metadata",
  "POST /assistants/search": "assistants:search graph_id limit metadata offset",
  "POST /assistants/count": "assistants:search graph_id metadata",
  "GET /assistants/{assistant_id}": "assistants:read assistant_id",
  "PATCH /assistants/{assistant_id}": "assistants:update assistant_id metadata",
  "DELETE /assistants/{assistant_id}": "assistants:delete assistant_id",
  "POST /assistants/{assistant_id}/versions": "assistants:read assistant_id metadata",
  "POST /assistants/{assistant_id}/latest": "assistants:update assistant_id metadata version",
  "GET /assistants/{assistant_id}/graph": "assistants:read assistant_id",
  "GET /assistants/{assistant_id}/schemas": "assistants:read assistant_id",
  "GET /assistants/{assistant_id}/subgraphs": "assistants:read assistant_id",
  "GET /assistants/{assistant_id}/subgraphs/{namespace}": "assistants:read assistant_id",
  "POST /threads": "threads:create if_exists metadata thread_id",
  "GET /threads": "threads:search ids limit metadata offset status values",
  "POST /threads/search": "threads:search ids limit metadata offset status values",
  "POST /threads/count": "threads:search metadata status values",
  "POST /threads/prune": "threads:delete thread_id",
  "GET /threads/{thread_id}": "threads:read thread_id",
  "POST /threads/{thread_id}/copy": "threads:read thread_id",
  "PATCH /threads/{thread_id}": "threads:update metadata thread_id",
  "DELETE /threads/{thread_id}": "threads:delete thread_id",
  "GET /threads/{thread_id}/stream": "threads:read thread_id",
  "GET /threads/{thread_id}/state": "threads:read thread_id",
  "POST /threads/{thread_id}/state": "threads:update thread_id",
  "GET /threads/{thread_id}/state/{checkpoint_id}": "threads:read thread_id",
  "POST /threads/{thread_id}/state/checkpoint": "threads:read thread_id",
  "GET /threads/{thread_id}/history": "threads:read thread_id",
  "POST /threads/{thread_id}/history": "threads:read thread_id",
  "POST /threads/{thread_id}/commands": "threads:read thread_id",
  "GET /threads/{thread_id}/stream/events": "threads:read thread_id",
  "POST /threads/{thread_id}/stream/events": "threads:read thread_id",
  "GET /threads/{thread_id}/runs": "threads:search limit offset thread_id",
  "GET /threads/{thread_id}/runs/{run_id}": "threads:read run_id thread_id",
  "DELETE /threads/{thread_id}/runs/{run_id}": "threads:delete run_id thread_id",
  "POST /threads/{thread_id}/runs/{run_id}/cancel": "threads:update action metadata thread_id",
  "POST /runs/cancel": "threads:update action metadata thread_id",
  "GET /threads/{thread_id}/runs/{run_id}/join": "threads:read run_id thread_id",
  "GET /threads/{thread_id}/runs/{run_id}/stream": "threads:read run_id thread_id",
  "POST /runs/crons": "crons:create cron_id end_time metadata payload schedule thread_id user_id",
  "POST /threads/{thread_id}/runs/crons":
    "crons:create cron_id end_time metadata payload schedule thread_id user_id",
  "POST /runs/crons/search": "crons:search assistant_id limit metadata offset thread_id",
  "POST /runs/crons/count": "crons:search assistant_id metadata thread_id",
  "GET /runs/crons/{cron_id}": "crons:read cron_id",
  "PATCH /runs/crons/{cron_id}": "crons:update cron_id metadata payload schedule",
  "DELETE /runs/crons/{cron_id}": "crons:delete cron_id",
  "GET /runs/{run_id}/join": "threads:read run_id thread_id",
  "GET /runs/{run_id}/stream": "threads:read run_id thread_id",
  "PUT /store/items": "store:put key namespace value",
  "GET /store/items": "store:get key namespace",
  "DELETE /store/items": "store:delete key namespace",
  "POST /store/items/search": "store:search filter limit namespace offset query",
  "POST /store/namespaces": "store:list_namespaces limit max_depth namespace offset suffix",
};

const CREATES_RUN =
  "threads:create_run after_seconds assistant_id if_not_exists kwargs metadata multitask_strategy prevent_insert_if_inflight run_id status thread_id";

for (const follow of ["", "/stream", "/wait"]) {
  EVENTS[`POST /threads/{thread_id}/runs${follow}`] = CREATES_RUN;
  EVENTS[`POST /runs${follow}`] = CREATES_RUN;
}
EVENTS["POST /runs/batch"] = CREATES_RUN;

function clientOf(server: TestServer, user: string | object): Client {
  return server.client({ headers: bearer(user) });
}

function makeThings(server: TestServer, user: string | object): Promise<AgentIds> {
  return makeThingsOf(clientOf(server, user));
}

async function ask(
  server: TestServer,
  route: Route,
  ids: AgentIds,
  headers: Record<string, string>,
) {
  const path = targetOf(route, ids);
  return answerOf(send(server, route.method, path, bodyFor(route, ids), headers));
}

describe("every route", () => {
  test("authenticates the caller, and needs no key of the platform", async ({ server, expect }) => {
    const refusal = { status: 401, body: { detail: "Send a bearer token" } };
    for (const route of await agentRoutes(server)) {
      for (const headers of [{}, { "x-api-key": "tw_x" }]) {
        expect([route, await ask(server, route, MISSING_IDS, headers)]).toEqual([route, refusal]);
      }
    }
  });

  test("calls the authorisation handlers with the resource that it is about", async ({
    server,
    expect,
  }) => {
    const routes = await agentRoutes(server);
    const names = routes.map(({ method, path }) => `${method} ${path}`);
    expect(names.toSorted()).toEqual(Object.keys(EVENTS).toSorted());
    const headers = bearer({ identity: "asking", rules: "event" });
    for (const route of routes) {
      const name = `${route.method} ${route.path}`;
      const answer = await ask(server, route, MISSING_IDS, headers);
      expect([name, answer]).toEqual([name, { status: 418, body: { detail: EVENTS[name] } }]);
    }
  });

  test("has no effect for a caller whom a handler refuses", async ({ server, expect }) => {
    const ids = await makeThings(server, "refusing");
    const client = clientOf(server, "refusing");
    const before = [await client.threads.get(ids.thread_id), await client.threads.count()];
    for (const route of await agentRoutes(server)) {
      const headers = bearer({ identity: "refusing", rules: "deny" });
      expect([route, await ask(server, route, ids, headers)]).toEqual([
        route,
        { status: 403, body: { detail: "Forbidden" } },
      ]);
    }
    expect([await client.threads.get(ids.thread_id), await client.threads.count()]).toEqual(before);
  });

  test("answers the owner, and gives another user the answer for a missing resource", async ({
    server,
    expect,
  }) => {
    const ids = await makeThings(server, "owner");
    const owner = clientOf(server, "owner");
    const before = await owner.threads.get(ids.thread_id);
    const routes = (await agentRoutes(server)).filter(
      (route) => route.path.includes("{") && answersOnce(route),
    );
    for (const route of routes) {
      const [theirs, nothing] = [
        await ask(server, route, ids, bearer("other")),
        await ask(server, route, MISSING_IDS, bearer("other")),
      ].map((answer) => withoutIds(answer, ids));
      expect([route, theirs]).toEqual([route, nothing]);
      expect([route, theirs?.status]).toEqual([route, statusOfMissing(route)]);
    }
    expect(await owner.threads.get(ids.thread_id)).toEqual(before);
    const endless = (route: Route) => route.path === "/threads/{thread_id}/stream";
    const stateless = (route: Route) => route.path.startsWith("/runs/{run_id}");
    const ownRoutes = deletionsLast(routes.filter((route) => !stateless(route) && !endless(route)));
    const following = await server.fetch(`/threads/${ids.thread_id}/stream`, {
      headers: bearer("owner"),
    });
    await following.body?.cancel();
    expect(following.status).toBe(200);
    for (const route of ownRoutes) {
      const { status } = await ask(server, route, ids, bearer("owner"));
      expect([route, Math.floor(status / 100)]).toEqual([route, 2]);
    }
  });
});

describe("another user", () => {
  test("finds, counts and lists nothing of the first user", async ({ server, expect }) => {
    const [first, second] = [clientOf(server, "finder"), clientOf(server, "seeker")];
    const { thread_id, assistant_id } = await makeThings(server, "finder");
    expect(await first.threads.search({ ids: [thread_id] })).toHaveLength(1);
    expect(await first.threads.count()).toBe(1);
    expect((await first.assistants.search()).map((found) => found.assistant_id)).toEqual([
      assistant_id,
    ]);
    expect(await first.assistants.count()).toBe(1);
    expect(await second.threads.search()).toEqual([]);
    expect(await second.threads.search({ metadata: { owner: "finder" } })).toEqual([]);
    expect(await second.threads.count()).toBe(0);
    expect(await second.assistants.search({ metadata: { owner: "finder" } })).toEqual([]);
    expect(await second.assistants.count()).toBe(0);
    const answer = await send(server, "POST", "/threads/search", {}, bearer("seeker"));
    expect(answer.headers.get("x-pagination-total")).toBe("0");
    const listed = (user: string) =>
      answerOf(send(server, "GET", "/threads?select=thread_id", undefined, bearer(user)));
    expect(await listed("finder")).toEqual({ status: 200, body: [{ thread_id }] });
    expect(await listed("seeker")).toEqual({ status: 200, body: [] });
  });

  test("cannot take a thread's or an assistant's id, nor run on it", async ({ server, expect }) => {
    const { thread_id, assistant_id } = await makeThings(server, "holder");
    const headers = bearer("taker");
    const post = (path: string, body: object) =>
      answerOf(send(server, "POST", path, body, headers));
    const exists = { status: 409, body: { detail: "Thread already exists" } };
    expect(await post("/threads", { thread_id })).toEqual(exists);
    expect(await post("/threads", { thread_id, if_exists: "do_nothing" })).toEqual(exists);
    const run = { assistant_id: "branching", input: {}, if_not_exists: "create" };
    expect(await post(`/threads/${thread_id}/runs/wait`, run)).toEqual(exists);
    const assistant = { assistant_id, graph_id: "branching", if_exists: "do_nothing" };
    expect(await post("/assistants", assistant)).toEqual({
      status: 409,
      body: { detail: "Assistant already exists" },
    });
    expect(await clientOf(server, "holder").runs.list(thread_id)).toHaveLength(1);
  });

  test("cannot run the first one's assistant, but can run each graph's own", async ({
    server,
    expect,
  }) => {
    const { assistant_id } = await makeThings(server, "runner");
    const post = (assistant: string) =>
      answerOf(
        send(server, "POST", "/runs/wait", { assistant_id: assistant, input: {} }, bearer("rival")),
      );
    expect(await post(assistant_id)).toEqual({
      status: 404,
      body: {
        detail: `No assistant found for "${assistant_id}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`,
      },
    });
    expect((await post("branching")).status).toBe(200);
  });

  test("cannot create the assistant that all users run", async ({ server, expect }) => {
    const all = clientOf(server, { identity: "reader", rules: "allow" });
    // The assistant is gone until a request names the graph.
    await all.assistants.count();
    await all.assistants.delete("slow");
    const body = { graph_id: "slow", assistant_id: defaultAssistantId("slow") };
    for (const if_exists of ["raise", "do_nothing"]) {
      const request = { ...body, if_exists, config: { configurable: { forged: true } } };
      expect(
        await answerOf(send(server, "POST", "/assistants", request, bearer("forger"))),
      ).toEqual({ status: 409, body: { detail: "Assistant already exists" } });
    }
    const { metadata, config } = await all.assistants.get("slow");
    expect([metadata, config]).toEqual([{ created_by: "system" }, {}]);
  });

  test("does not lose threads when the first user deletes an assistant with its threads", async ({
    server,
    expect,
  }) => {
    const shared = { identity: "sharer", rules: "allow" };
    const [first, second] = [clientOf(server, "deleter"), clientOf(server, "keeper")];
    const { assistant_id, thread_id } = await makeThings(server, "deleter");
    const kept = await second.threads.create();
    const run = { input: {}, metadata: { note: 1 } };
    await clientOf(server, shared).runs.wait(kept.thread_id, assistant_id, run);
    const headers = bearer("deleter");
    const path = `/assistants/${assistant_id}?delete_threads=true`;
    expect((await send(server, "DELETE", path, undefined, headers)).status).toBe(204);
    await expect(first.threads.get(thread_id)).rejects.toThrow("HTTP 404");
    expect((await second.threads.get(kept.thread_id)).metadata).toMatchObject({ assistant_id });
  });

  test("cannot follow or stop a run in flight, threaded or not", async ({ server, expect }) => {
    const client = clientOf(server, "flyer");
    const { thread_id } = await client.threads.create();
    const input = { steps: 100_000, delay_ms: 100, label: "x" };
    const onThread = await client.runs.create(thread_id, "slow", { input });
    const stateless = await client.runs.create(null, "slow", { input });
    for (const [method, path] of routesOfRuns(onThread, stateless)) {
      const answer = await send(server, method, path, undefined, bearer("hunter"));
      expect([path, answer.status]).toEqual([path, 404]);
    }
    await vi.waitFor(
      async () => expect(await client.threads.count({ status: "busy" })).toBe(1),
      150_000,
    );
    const named = { thread_id, run_ids: [onThread.run_id] };
    for (const body of [named, { status: "all" }]) {
      const answer = await send(server, "POST", "/runs/cancel", body, bearer("hunter"));
      expect([body, answer.status]).toEqual([body, 404]);
    }
    for (const { thread_id, run_id } of [onThread, stateless]) {
      const { status } = await client.runs.get(thread_id, run_id);
      expect(["pending", "running"]).toContain(status);
      await client.runs.cancel(thread_id, run_id, true);
    }
  });
});

describe("a cron", () => {
  /** Makes the cron's tick due, and waits for the sweep of every minute to find it. */
  async function tick(server: TestServer, cronId: string): Promise<void> {
    await server.database.run(
      `UPDATE crons SET next_run_at = 60000, due_at = 60000 WHERE cron_id = '${cronId}'`,
    );
    await server.sweep();
  }

  async function makeCron(server: TestServer, user: string | object) {
    const body = { assistant_id: "branching", schedule: "0 0 1 1 *", on_run_completed: "keep" };
    const made = await send(server, "POST", "/runs/crons", body, bearer(user));
    return made.body as { cron_id: string; user_id: string; metadata: Record<string, unknown> };
  }

  test("makes runs for the user who created it", async ({ server, expect }) => {
    const cron = await makeCron(server, "early riser");
    expect([cron.user_id, cron.metadata]).toEqual(["early riser", { owner: "early riser" }]);
    await tick(server, cron.cron_id);
    const client = clientOf(server, "early riser");
    // The index learns of a run's thread after the sweep has answered.
    const thread = await vi.waitFor(async () => {
      const [found, ...others] = await client.threads.search();
      expect([found?.metadata, others]).toEqual([expect.anything(), []]);
      return found;
    }, 60_000);
    expect(thread?.metadata).toMatchObject({ owner: "early riser", cron_id: cron.cron_id });
    expect(await client.runs.list(thread?.thread_id ?? "")).toHaveLength(1);
    expect(await clientOf(server, "late riser").crons.search()).toEqual([]);
    expect(await clientOf(server, "late riser").crons.count()).toBe(0);
  });

  test("makes no run that its user may not make", async ({ server, expect }) => {
    const cron = await makeCron(server, { identity: "planner", rules: "only:crons:create" });
    await tick(server, cron.cron_id);
    const all = clientOf(server, { identity: "overseer", rules: "allow" });
    expect(await all.threads.count({ metadata: { cron_id: cron.cron_id } })).toBe(0);
    const headers = bearer({ identity: "overseer", rules: "allow" });
    const found = await send(server, "GET", `/runs/crons/${cron.cron_id}`, undefined, headers);
    const { next_run_date } = found.body as { next_run_date: string };
    expect(Date.parse(next_run_date)).toBeGreaterThan(Date.now());
  });
});
