import type { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { defaultAssistantId } from "../../src/agent-server/assistants/assistant-id.ts";
import { answerOf, send } from "../support/http.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../support/uuid.ts";

const test = testInWorkspace();

const GRAPHS = [
  "agent",
  "annotation",
  "appender",
  "branching",
  "builder",
  "command_goto",
  "configurable",
  "connected",
  "custom_stream",
  "env_reader",
  "factory",
  "files",
  "forever",
  "interrupts",
  "nested",
  "promise",
  "slow",
  "store",
  "throws",
  "tools",
  "tools_nested",
  "transformers",
  "transformers_failing",
  "transformers_patient",
  "unserialisable",
  "weather",
  "zod_state",
];

/** Creates assistants for a single test, which finds them by their metadata. */
async function createThree(client: Client, suite: string) {
  const created = [];
  for (const [index, name] of ["Alpha", "beta", "Gamma"].entries()) {
    const graphId = index === 1 ? "slow" : "agent";
    const metadata = { suite, nested: { index, tags: ["a", name] } };
    created.push(await client.assistants.create({ graphId, name, metadata }));
  }
  return created;
}

describe("default assistants", () => {
  test("exist for every graph, with the id that other servers derive", async ({
    client,
    expect,
  }) => {
    const found = await client.assistants.search({
      metadata: { created_by: "system" },
      limit: 100,
      sortBy: "name",
      sortOrder: "asc",
    });
    expect(found.map(({ graph_id }) => graph_id)).toEqual(GRAPHS);
    expect(found.map(({ assistant_id }) => assistant_id)).toEqual(GRAPHS.map(defaultAssistantId));
    expect(found[0]).toEqual({
      assistant_id: "fe096781-5601-53d2-b2f6-0d3403f7e9ca",
      graph_id: "agent",
      version: 1,
      config: {},
      context: {},
      metadata: { created_by: "system" },
      name: "agent",
      description: "Calls a tool, then answers.",
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: expect.stringMatching(ISO_TIME),
    });
  });

  test("are found by the name of their graph", async ({ client, expect }) => {
    const byName = await client.assistants.get("weather");
    expect(byName.assistant_id).toBe("5fb44052-6611-57fc-99b4-527b0d62f788");
    expect(await client.assistants.get(byName.assistant_id)).toEqual(byName);
  });

  test("are restored as they were made after a deletion", async ({ client, expect }) => {
    const before = await client.assistants.get("promise");
    await client.assistants.update("promise", { name: "changed" });
    await client.assistants.delete("promise");
    const { created_at: _1, updated_at: _2, ...after } = await client.assistants.get("promise");
    const { created_at: _3, updated_at: _4, ...expected } = before;
    expect(after).toEqual(expected);
  });
});

describe("creating", () => {
  test("keeps all fields that it is given", async ({ client, expect }) => {
    const created = await client.assistants.create({
      graphId: "configurable",
      name: "Full",
      description: "All fields",
      config: { tags: ["t"], recursion_limit: 12, configurable: { model: "m" } },
      context: { temperature: 1 },
      metadata: { owner: "me" },
    });
    expect(created).toEqual({
      assistant_id: expect.stringMatching(UUID),
      graph_id: "configurable",
      version: 1,
      config: { tags: ["t"], recursion_limit: 12, configurable: { model: "m" } },
      context: { temperature: 1 },
      metadata: { owner: "me" },
      name: "Full",
      description: "All fields",
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: expect.stringMatching(ISO_TIME),
    });
    expect(await client.assistants.get(created.assistant_id)).toEqual(created);
  });

  test("sets defaults for missing fields", async ({ client, expect }) => {
    expect(await client.assistants.create({ graphId: "agent" })).toMatchObject({
      name: "Untitled",
      description: null,
      config: {},
      context: {},
      metadata: {},
    });
  });

  test("refuses an id that exists, unless told to leave it", async ({ client, expect }) => {
    const assistantId = crypto.randomUUID();
    const first = await client.assistants.create({ graphId: "agent", assistantId, name: "one" });
    await expect(
      client.assistants.create({ graphId: "agent", assistantId, name: "two" }),
    ).rejects.toThrow('HTTP 409: {"detail":"Assistant already exists"}');
    const kept = await client.assistants.create({
      graphId: "slow",
      assistantId,
      name: "two",
      ifExists: "do_nothing",
    });
    expect(kept).toEqual(first);
  });

  test("refuses a graph that the project does not have", async ({ server, expect }) => {
    expect(await answerOf(send(server, "POST", "/assistants", { graph_id: "nope" }))).toEqual({
      status: 404,
      body: { detail: 'Graph "nope" not found' },
    });
  });

  test("ignores unknown fields, and names them", async ({ server, client, expect }) => {
    const body = { graph_id: "agent", colour: "red", config: { speed: 2, tags: ["t"] } };
    const created = await send(server, "POST", "/assistants", body);
    expect(created.headers.get("x-ignored-fields")).toBe("config.speed, colour");
    const { assistant_id } = created.body as { assistant_id: string };
    const stored = await client.assistants.get(assistant_id);
    expect(stored).toEqual(created.body);
    expect([stored.config, "colour" in stored]).toEqual([{ tags: ["t"] }, false]);
  });
});

describe("versions", () => {
  test("are added by every change, which merges metadata and replaces the rest", async ({
    client,
    expect,
  }) => {
    const { assistant_id: id } = await client.assistants.create({
      graphId: "agent",
      name: "v1",
      metadata: { kept: 1, changed: 1 },
      config: { configurable: { a: 1 } },
    });
    const second = await client.assistants.update(id, {
      metadata: { changed: 2 },
      config: { configurable: { b: 2 } },
    });
    expect(second).toMatchObject({
      version: 2,
      name: "v1",
      metadata: { kept: 1, changed: 2 },
      config: { configurable: { b: 2 } },
    });
    expect(await client.assistants.get(id)).toEqual(second);
    const third = await client.assistants.update(id, {});
    expect(third).toEqual({ ...second, version: 3, updated_at: third.updated_at });
    const versions = await client.assistants.getVersions(id);
    expect(versions.map(({ version }) => version)).toEqual([3, 2, 1]);
    expect(versions[2]).toEqual({
      assistant_id: id,
      graph_id: "agent",
      version: 1,
      config: { configurable: { a: 1 } },
      context: {},
      metadata: { kept: 1, changed: 1 },
      name: "v1",
      description: null,
      created_at: expect.stringMatching(ISO_TIME),
    });
  });

  test("are listed in pages and by metadata", async ({ client, expect }) => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "agent" });
    for (const step of [2, 3, 4]) await client.assistants.update(id, { metadata: { step } });
    const page = await client.assistants.getVersions(id, { limit: 2, offset: 1 });
    expect(page.map(({ version }) => version)).toEqual([3, 2]);
    const found = await client.assistants.getVersions(id, { metadata: { step: 3 } });
    expect(found.map(({ version }) => version)).toEqual([3]);
  });

  test("are restored as a whole, and the next change gets the next number", async ({
    client,
    expect,
  }) => {
    const first = await client.assistants.create({
      graphId: "agent",
      name: "one",
      description: "first",
      config: { tags: ["one"] },
      context: { token_delay_ms: 1 },
      metadata: { one: true },
    });
    const id = first.assistant_id;
    await client.assistants.update(id, {
      graphId: "slow",
      name: "two",
      description: "second",
      config: { tags: ["two"] },
      context: { other: 2 },
      metadata: { two: true },
    });
    const restored = await client.assistants.setLatest(id, 1);
    expect(restored).toEqual({ ...first, updated_at: restored.updated_at });
    expect(await client.assistants.get(id)).toEqual(restored);
    expect(await client.assistants.getVersions(id)).toHaveLength(2);
    expect(await client.assistants.update(id, { name: "three" })).toMatchObject({
      version: 3,
      graph_id: "agent",
      name: "three",
      metadata: { one: true },
    });
  });

  test("that do not exist are not restored", async ({ client, server, expect }) => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "agent" });
    const latest = `/assistants/${id}/latest`;
    expect(await answerOf(send(server, "POST", latest, { version: 7 }))).toEqual({
      status: 404,
      body: { detail: "Assistant version not found" },
    });
    expect(await answerOf(send(server, "POST", latest, {}))).toEqual({
      status: 422,
      body: { detail: [{ loc: ["body", "version"], msg: "Field required", type: "missing" }] },
    });
    expect((await send(server, "POST", `${latest}?version=1`, {})).status).toBe(200);
  });

  test("keep their numbers apart under concurrent changes", async ({ client, expect }) => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "agent" });
    const changes = Array.from({ length: 5 }, (_, index) =>
      client.assistants.update(id, { metadata: { [`key${index}`]: index } }),
    );
    const versions = (await Promise.all(changes)).map(({ version }) => version);
    expect(versions.toSorted((left, right) => left - right)).toEqual([2, 3, 4, 5, 6]);
    expect((await client.assistants.get(id)).metadata).toEqual({
      key0: 0,
      key1: 1,
      key2: 2,
      key3: 3,
      key4: 4,
    });
  });
});

describe("searching", () => {
  test("filters by graph, name and metadata", async ({ client, expect }) => {
    const [alpha, beta, gamma] = await createThree(client, "filters");
    const all = { suite: "filters" };
    const ids = async (query: Parameters<Client["assistants"]["search"]>[0]) =>
      (await client.assistants.search({ ...query, sortBy: "created_at", sortOrder: "asc" })).map(
        ({ assistant_id }) => assistant_id,
      );
    expect(await ids({ metadata: all })).toEqual(
      [alpha, beta, gamma].map((assistant) => assistant?.assistant_id),
    );
    expect(await ids({ metadata: all, graphId: "slow" })).toEqual([beta?.assistant_id]);
    expect(await ids({ metadata: all, name: "AMM" })).toEqual([gamma?.assistant_id]);
    expect(await ids({ metadata: { ...all, nested: { index: 0 } } })).toEqual([
      alpha?.assistant_id,
    ]);
    expect(await ids({ metadata: { ...all, nested: { tags: ["beta"] } } })).toEqual([
      beta?.assistant_id,
    ]);
    expect(await ids({ metadata: { ...all, nested: { index: "0" } } })).toEqual([]);
  });

  test("takes wildcards of the database literally", async ({ client, expect }) => {
    await client.assistants.create({ graphId: "agent", name: "100%_sure" });
    const named = async (name: string) =>
      (await client.assistants.search({ name })).map((assistant) => assistant.name);
    expect(await named("0%_s")).toEqual(["100%_sure"]);
    expect(await named("1%sure")).toEqual([]);
    expect(await named("100__sure")).toEqual([]);
  });

  test.for([
    ["name", "asc", ["Alpha", "Gamma", "beta"]],
    ["name", "desc", ["beta", "Gamma", "Alpha"]],
    ["created_at", "asc", ["Alpha", "beta", "Gamma"]],
    ["graph_id", "desc", ["beta"]],
  ] as const)("sorts by %s %s", async ([sortBy, sortOrder, expected], { client, expect }) => {
    const suite = `sorts ${sortBy} ${sortOrder}`;
    await createThree(client, suite);
    const found = await client.assistants.search({ metadata: { suite }, sortBy, sortOrder });
    const names = found.map(({ name }) => name);
    expect(names.slice(0, expected.length)).toEqual(expected);
    expect(names).toHaveLength(3);
  });

  test("pages, and says how many there are and where the next page begins", async ({
    client,
    server,
    expect,
  }) => {
    await createThree(client, "pages");
    const page = async (limit: number, offset: number) => {
      const body = { metadata: { suite: "pages" }, sort_by: "created_at", limit, offset };
      const { headers, body: found } = await send(server, "POST", "/assistants/search", body);
      return {
        names: (found as { name: string }[]).map(({ name }) => name),
        total: headers.get("x-pagination-total"),
        next: headers.get("x-pagination-next"),
      };
    };
    expect(await page(2, 0)).toEqual({ names: ["Gamma", "beta"], total: "3", next: "2" });
    expect(await page(2, 2)).toEqual({ names: ["Alpha"], total: "3", next: null });
    expect(await page(2, 9)).toEqual({ names: [], total: "3", next: null });
    const { assistants, next } = await client.assistants.search({
      metadata: { suite: "pages" },
      limit: 2,
      includePagination: true,
    });
    expect([assistants.length, next]).toEqual([2, "2"]);
  });

  test("answers only the selected fields", async ({ client, expect }) => {
    await createThree(client, "select");
    const found = await client.assistants.search({
      metadata: { suite: "select" },
      graphId: "slow",
      select: ["name", "version"],
    });
    expect(found).toEqual([{ name: "beta", version: 1 }]);
  });

  test("counts what it would find", async ({ client, expect }) => {
    await createThree(client, "count");
    const metadata = { suite: "count" };
    expect(await client.assistants.count({ metadata })).toBe(3);
    expect(await client.assistants.count({ metadata, graphId: "agent" })).toBe(2);
    expect(await client.assistants.count({ metadata, name: "beta" })).toBe(1);
  });
});

describe("deleting", () => {
  test("removes the assistant with its versions, and keeps the threads it ran", async ({
    client,
    server,
    expect,
  }) => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "branching" });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, id, { input: {} });
    expect((await send(server, "DELETE", `/assistants/${id}`)).status).toBe(204);
    const missing = { status: 404, body: { detail: "Assistant not found" } };
    expect(await answerOf(send(server, "GET", `/assistants/${id}`))).toEqual(missing);
    expect(await answerOf(send(server, "DELETE", `/assistants/${id}`))).toEqual(missing);
    expect((await send(server, "POST", `/assistants/${id}/versions`, {})).status).toBe(404);
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  test("removes the threads it ran when asked to", async ({ client, expect }) => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "branching" });
    const [ran, other] = [await client.threads.create(), await client.threads.create()];
    await client.runs.wait(ran.thread_id, id, { input: {} });
    await client.runs.wait(other.thread_id, "branching", { input: {} });
    await client.assistants.delete(id, { deleteThreads: true });
    await expect(client.threads.get(ran.thread_id)).rejects.toThrow("HTTP 404");
    expect(await client.threads.search({ ids: [ran.thread_id] })).toEqual([]);
    expect((await client.threads.get(other.thread_id)).status).toBe("idle");
  });
});

describe("a run that begins after its assistant was", () => {
  async function graphOf(client: Client, assistantId: string): Promise<unknown> {
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, assistantId, { input: {} });
    return (await client.threads.get(thread_id)).metadata?.["graph_id"];
  }

  test("changed has the change", async ({ client, expect }) => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "branching" });
    expect(await graphOf(client, id)).toBe("branching");
    for (const graphId of ["agent", "builder", "agent"]) {
      await client.assistants.update(id, { graphId });
      expect(await graphOf(client, id)).toBe(graphId);
    }
    await client.assistants.setLatest(id, 1);
    expect(await graphOf(client, id)).toBe("branching");
  });

  test("deleted is refused, and one of an assistant with the same id runs", async ({
    client,
    expect,
  }) => {
    const { assistant_id: assistantId } = await client.assistants.create({ graphId: "branching" });
    expect(await graphOf(client, assistantId)).toBe("branching");
    await client.assistants.delete(assistantId);
    await expect(graphOf(client, assistantId)).rejects.toThrow("404");
    await client.assistants.create({ graphId: "agent", assistantId });
    expect(await graphOf(client, assistantId)).toBe("agent");
  });
});

describe("an assistant that does not exist", () => {
  test.for([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["GET", "/graph"],
    ["GET", "/schemas"],
    ["GET", "/subgraphs"],
  ] as const)("is not found by %s %s", async ([method, path], { server, expect }) => {
    const body = method === "PATCH" ? {} : undefined;
    for (const id of [MISSING_ID, "no_such_graph"]) {
      expect(await answerOf(send(server, method, `/assistants/${id}${path}`, body))).toEqual({
        status: 404,
        body: { detail: "Assistant not found" },
      });
    }
  });
});
