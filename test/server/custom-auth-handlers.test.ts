import { describe } from "vitest";
import { bearer } from "../support/bearer.ts";
import { answerOf, send } from "../support/http.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithServer(
  {
    AGENT_AUTH: "none",
    PROJECT_ENV: JSON.stringify({
      LANGGRAPH_CONFIG: JSON.stringify({
        configurable: { configurable: { flavour: "mint" }, tags: ["from the environment"] },
      }),
    }),
  },
  "custom-auth",
);

function search(server: TestServer, user: string | object) {
  return send(server, "POST", "/threads/search", {}, bearer(user));
}

function withRules(rules: string, more: object = {}): object {
  return { identity: "ruler", rules, ...more };
}

describe("an authenticate handler", () => {
  test("answers with the status, text and headers that it throws", async ({ server, expect }) => {
    const nobody = await send(server, "POST", "/threads/search", {});
    expect(nobody.status).toBe(401);
    expect(nobody.body).toEqual({ detail: "Send a bearer token" });
    expect(nobody.headers.get("www-authenticate")).toBe("Bearer");
    const teapot = await search(server, "teapot");
    expect(teapot.status).toBe(418);
    expect(teapot.body).toEqual({ detail: "Short and stout" });
    expect(teapot.headers.get("x-tea")).toBe("green");
    expect(await answerOf(search(server, "unavailable"))).toEqual({
      status: 503,
      body: { detail: "The directory is down" },
    });
  });

  test.for([
    ["throws", "throws"],
    ["returns a number", "nonsense"],
    ["throws an exception whose status is not an error", "invalid-status"],
    ["returns a user without an identity", { name: "x" }],
    ["returns an empty identity", { identity: "" }],
    ["returns invalid permissions", { identity: "x", permissions: "all" }],
    ["returns a user that is too large", "large"],
  ] as const)(
    "causes a server error without details when it %s",
    async ([, user], { server, expect }) => {
      expect(await answerOf(search(server, user))).toEqual({
        status: 500,
        body: { detail: "Internal server error" },
      });
    },
  );

  test("refuses a user that is not authenticated", async ({ server, expect }) => {
    const user = { identity: "x", is_authenticated: false };
    expect(await answerOf(search(server, user))).toEqual({
      status: 401,
      body: { detail: "Unauthorized" },
    });
  });

  test("is aborted when it hangs", async ({ server, expect }) => {
    expect(await answerOf(search(server, "hangs"))).toEqual({
      status: 500,
      body: { detail: "Internal server error" },
    });
  });

  test("sees the method and the address of the request", async ({ server, expect }) => {
    const { body } = await send(server, "POST", "/threads?x=1", {}, bearer("path"));
    expect(body).toMatchObject({ metadata: { owner: "/threadsPOST" } });
  });

  test("is not called for public routes", async ({ server, expect }) => {
    for (const path of ["/ok", "/info", "/openapi.json", "/docs"]) {
      expect([path, (await server.fetch(path)).status]).toEqual([path, 200]);
    }
  });
});

describe("an authorisation handler", () => {
  test.for([
    ["the event's own", "GET", `/threads/${MISSING_ID}`, "threads:read"],
    ["the resource's", "DELETE", `/threads/${MISSING_ID}`, "threads"],
    ["the resource's before the action's", "POST", "/threads", "threads"],
    ["the action's", "POST", "/assistants/count", "*:search"],
    ["the one for all", "DELETE", `/assistants/${MISSING_ID}`, "*"],
  ] as const)(
    "is the most specific one: %s",
    async ([, method, path, handler], { server, expect }) => {
      const body = method === "POST" ? {} : undefined;
      const answer = answerOf(send(server, method, path, body, bearer(withRules("which"))));
      expect(await answer).toEqual({ status: 418, body: { detail: handler } });
    },
  );

  test.for([
    ["teapot", 418, "Short and stout"],
    ["unavailable", 503, "The directory is down"],
    ["deny", 403, "Forbidden"],
    ["throws", 500, "Internal server error"],
    ["nonsense", 500, "Internal server error"],
    ["invalid-status", 500, "Internal server error"],
  ] as const)(
    "whose rule is %s leads to the status %i",
    async ([rules, status, detail], { server, expect }) => {
      expect(await answerOf(search(server, withRules(rules)))).toEqual({
        status,
        body: { detail },
      });
    },
  );

  test("adds its headers to the answer", async ({ server, expect }) => {
    expect((await search(server, withRules("teapot"))).headers.get("x-tea")).toBe("green");
  });

  test("causes an error, and nothing is stored, when it leaves invalid metadata", async ({
    server,
    expect,
  }) => {
    const answer = await send(server, "POST", "/threads", {}, bearer(withRules("unmetadata")));
    expect(answer.status).toBe(500);
  });

  test("overrides the client's metadata in what is stored", async ({ server, expect }) => {
    const client = server.client({ headers: bearer("stamper") });
    const forged = { owner: "somebody", note: 1 };
    const stamped = { owner: "stamper", note: 1 };
    const thread = await client.threads.create({ metadata: forged });
    expect(thread.metadata).toEqual(stamped);
    expect((await client.threads.update(thread.thread_id, { metadata: forged })).metadata).toEqual(
      stamped,
    );
    const assistant = await client.assistants.create({ graphId: "appender", metadata: forged });
    expect(assistant.metadata).toEqual(stamped);
    const { assistant_id } = assistant;
    const changed = await client.assistants.update(assistant_id, { metadata: forged });
    expect(changed.metadata).toEqual(stamped);
    const run = await client.runs.create(crypto.randomUUID(), "appender", {
      input: {},
      metadata: forged,
      ifNotExists: "create",
    });
    expect(run.metadata).toMatchObject(stamped);
    expect((await client.threads.get(run.thread_id)).metadata).toMatchObject(stamped);
  });

  test("decides on a version by the metadata of that version", async ({ server, expect }) => {
    const all = server.client({ headers: bearer(withRules("allow")) });
    const created = await all.assistants.create({
      graphId: "appender",
      metadata: { owner: "version-1" },
    });
    const { assistant_id } = created;
    await all.assistants.update(assistant_id, { metadata: { owner: "version-2" } });
    const second = server.client({ headers: bearer("version-2") });
    expect(
      (await second.assistants.getVersions(assistant_id)).map(({ version }) => version),
    ).toEqual([2]);
    await expect(second.assistants.setLatest(assistant_id, 1)).rejects.toThrow("HTTP 404");
    expect((await second.assistants.setLatest(assistant_id, 2)).version).toBe(2);
    const first = server.client({ headers: bearer("version-1") });
    await expect(first.assistants.setLatest(assistant_id, 1)).rejects.toThrow("HTTP 404");
    await expect(first.assistants.get(assistant_id)).rejects.toThrow("HTTP 404");
  });
});

describe("a request that does two things", () => {
  const onlyMay = (event: string) => bearer(withRules(`only:${event}`));

  test("creates no thread if the caller may not write its initial states", async ({
    server,
    expect,
  }) => {
    const thread_id = crypto.randomUUID();
    const updates = [{ as_node: "first", values: { counter: 1 } }];
    const body = { thread_id, metadata: { graph_id: "branching" }, supersteps: [{ updates }] };
    const refused = await send(server, "POST", "/threads", body, onlyMay("threads:create"));
    expect([refused.status, refused.body]).toEqual([403, { detail: "Forbidden" }]);
    const owner = server.client({ headers: bearer("recorder") });
    await expect(owner.threads.get(thread_id)).rejects.toThrow("HTTP 404");
    expect((await send(server, "POST", "/threads", body, bearer("recorder"))).status).toBe(200);
    expect((await owner.threads.getState(thread_id)).values).toMatchObject({ counter: 1 });
  });

  test("does not let a caller with read access end a run by leaving it", async ({
    server,
    expect,
  }) => {
    const client = server.client({ headers: bearer(withRules("allow")) });
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "appender", { input: {} });
    const reader = onlyMay("threads:read");
    for (const way of ["join", "stream"]) {
      const path = `/threads/${thread_id}/runs/${run_id}/${way}`;
      const leaving = `${path}?cancel_on_disconnect=1`;
      expect((await send(server, "GET", path, undefined, reader)).status).toBe(200);
      expect((await send(server, "GET", leaving, undefined, reader)).status).toBe(403);
    }
  });

  test("keeps an assistant when its threads may not be deleted", async ({ server, expect }) => {
    const client = server.client({ headers: bearer(withRules("allow")) });
    const { assistant_id } = await client.assistants.create({ graphId: "appender" });
    const path = `/assistants/${assistant_id}`;
    const deleter = onlyMay("assistants:delete");
    const both = await send(server, "DELETE", `${path}?delete_threads=true`, undefined, deleter);
    expect(both.status).toBe(403);
    expect((await client.assistants.get(assistant_id)).assistant_id).toBe(assistant_id);
    expect((await send(server, "DELETE", path, undefined, deleter)).status).toBe(204);
  });
});

describe("a filter", () => {
  const filtering = (filter: object) => withRules("filter", { filter });

  test.for([
    [{ $or: [{ team: "red" }, { team: "blue" }] }, ["blue", "red"]],
    [{ $and: [{ colour: { $contains: "warm" } }, { level: 1 }] }, ["red"]],
    [{ colour: { $contains: ["warm", "dark"] } }, ["red"]],
    [{ team: { $eq: "green" } }, ["green"]],
    [{ team: "" }, []],
    [{ colour: { $contains: "" } }, []],
    [{ level: 2, team: "red" }, []],
    [
      { $or: Array.from({ length: 100 }, (_, index) => ({ level: index })) },
      ["blue", "green", "red"],
    ],
    [{}, ["blue", "green", "red"]],
  ] as const)(
    "lists, counts and reads the same threads: %j",
    async ([filter, teams], { server, expect }) => {
      const all = server.client({ headers: bearer(withRules("allow")) });
      const batch = crypto.randomUUID();
      const threads = await Promise.all(
        [
          { team: "red", colour: ["warm", "dark"], level: 1 },
          { team: "green", colour: ["cold"], level: 1 },
          { team: "blue", colour: "warm", level: 2 },
        ].map((metadata) => all.threads.create({ metadata: { ...metadata, batch } })),
      );
      const some = server.client({ headers: bearer(filtering(filter)) });
      // The request has as many filters of the client as are allowed, beside the handler's.
      const values = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`v${index}`, 1]));
      expect(await some.threads.search({ metadata: { batch }, values })).toEqual([]);
      const found = await some.threads.search({ metadata: { batch } });
      expect(found.map(({ metadata }) => String(metadata?.["team"])).toSorted()).toEqual(teams);
      expect(await some.threads.count({ metadata: { batch } })).toBe(teams.length);
      const read = await Promise.allSettled(
        threads.map(({ thread_id }) => some.threads.get(thread_id)),
      );
      expect(read.filter(({ status }) => status === "fulfilled")).toHaveLength(teams.length);
    },
  );

  test.for([
    { team: null },
    { team: { $ne: "red" } },
    { team: { $contains: [] } },
    { $or: [] },
    { $nor: [{ team: "red" }] },
    { team: {} },
  ])("hides everything if it is invalid: %j", async (filter, { server, expect }) => {
    expect((await search(server, filtering(filter))).status).toBe(500);
    const path = `/threads/${MISSING_ID}`;
    const read = await send(server, "GET", path, undefined, bearer(filtering(filter)));
    expect(read.status).toBe(500);
  });
});

describe("the retention that a project gives its threads", () => {
  test("applies to each thread that is made, by itself, for a run or as a copy", async ({
    server,
    expect,
  }) => {
    const client = server.client({ headers: bearer("timed") });
    const own = await client.threads.create({ ttl: 5 });
    const made = await client.threads.create();
    const copied = await client.threads.copy(made.thread_id);
    const forRun = crypto.randomUUID();
    await client.runs.wait(forRun, "branching", { input: {}, ifNotExists: "create" });
    const minutes = async (id: string): Promise<unknown> => {
      const { ttl } = (await client.threads.get(id, { include: ["ttl"] })) as { ttl?: unknown };
      return ttl;
    };
    expect(await minutes(own.thread_id)).toMatchObject({ strategy: "delete", ttl_minutes: 5 });
    for (const id of [made.thread_id, copied.thread_id, forRun]) {
      expect(await minutes(id)).toMatchObject({ strategy: "delete", ttl_minutes: 1_051_200 });
    }
  });
});

describe("a default assistant of a graph that LANGGRAPH_CONFIG names", () => {
  test("has the config of the environment, and keeps it when it is changed", async ({
    server,
    expect,
  }) => {
    const config = { configurable: { flavour: "mint" }, tags: ["from the environment"] };
    // A user without a filter sees the assistants that the server has made.
    const client = server.client({ headers: bearer(withRules("allow")) });
    const { run_id, thread_id } = await client.runs.create(
      (await client.threads.create()).thread_id,
      "configurable",
      { input: {} },
    );
    const run = await client.runs.get(thread_id, run_id);
    expect(run).toMatchObject({ kwargs: { config } });
    const found = await client.assistants.get("configurable");
    expect(found.config).toEqual(config);
    const listed = await client.assistants.search({ graphId: "configurable", limit: 100 });
    const own = listed.filter(({ assistant_id }) => assistant_id === found.assistant_id);
    expect(own.map((assistant) => assistant.config)).toEqual([config]);
    const changed = await client.assistants.update(found.assistant_id, { name: "changed" });
    expect([changed.version, changed.config]).toEqual([2, config]);
    const reset = await client.assistants.setLatest(found.assistant_id, 1);
    expect([reset.version, reset.config]).toEqual([1, config]);
  });
});
