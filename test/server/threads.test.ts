import type { Client } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import { human } from "../support/messages.ts";
import { answerOf, send } from "../support/http.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../support/uuid.ts";

const test = testInWorkspace();

type Search = NonNullable<Parameters<Client["threads"]["search"]>[0]>;

async function idsOf(client: Client, search: Search): Promise<string[]> {
  return (await client.threads.search(search)).map(({ thread_id }) => thread_id);
}

/** Creates three threads for a single test, and returns their ids in the order of creation. */
async function createThree(client: Client, suite: string): Promise<[string, string, string]> {
  const ids: string[] = [];
  for (const index of [0, 1, 2]) {
    const metadata = { suite, index, nested: { even: index % 2 === 0, tags: ["t", index] } };
    ids.push((await client.threads.create({ metadata })).thread_id);
  }
  const [first = "", second = "", third = ""] = ids;
  return [first, second, third];
}

describe("creating", () => {
  test("returns an idle thread without values", async ({ client, expect }) => {
    const thread = await client.threads.create();
    expect(thread).toEqual({
      thread_id: expect.stringMatching(UUID),
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: expect.stringMatching(ISO_TIME),
      state_updated_at: expect.stringMatching(ISO_TIME),
      metadata: {},
      status: "idle",
      config: {},
      values: null,
      interrupts: {},
      error: null,
    });
    expect(await client.threads.get(thread.thread_id)).toEqual(thread);
  });

  test("accepts an id, metadata and a graph", async ({ client, expect }) => {
    const threadId = crypto.randomUUID();
    const metadata = { owner: "me", deep: { list: [1, "two", null] } };
    const thread = await client.threads.create({ threadId, metadata, graphId: "branching" });
    expect(thread).toMatchObject({
      thread_id: threadId,
      metadata: { ...metadata, graph_id: "branching" },
    });
  });

  test("refuses an id that exists, unless told to leave it", async ({ client, expect }) => {
    const first = await client.threads.create({ metadata: { n: 1 } });
    const threadId = first.thread_id;
    await expect(client.threads.create({ threadId, ifExists: "raise" })).rejects.toThrow(
      'HTTP 409: {"detail":"Thread already exists"}',
    );
    const again = { threadId, ifExists: "do_nothing", metadata: { n: 2 } } as const;
    expect(await client.threads.create(again)).toEqual(first);
  });

  test("treats an id in upper case as the same one", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const found = await client.threads.get(thread_id.toUpperCase());
    expect(found.thread_id).toBe(thread_id);
  });

  test("replays supersteps, each into one checkpoint", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create({
      graphId: "branching",
      supersteps: [
        { updates: [{ values: { trail: ["start"] }, asNode: "__start__" }] },
        { updates: [{ values: { counter: 1, trail: ["copied"] }, asNode: "first" }] },
      ],
    });
    const state = await client.threads.getState(thread_id);
    expect([state.values, state.next]).toEqual([
      { counter: 1, trail: ["start", "copied"] },
      ["second"],
    ]);
    expect(await client.threads.getHistory(thread_id)).toHaveLength(2);
    expect(await client.runs.wait(thread_id, "branching", { input: null })).toEqual({
      counter: 3,
      trail: ["start", "copied", "second", "third"],
    });
  });

  test("refuses supersteps without a graph", async ({ server, expect }) => {
    const thread_id = crypto.randomUUID();
    const supersteps = [{ updates: [{ values: {}, as_node: "first" }] }];
    const created = send(server, "POST", "/threads", { thread_id, supersteps });
    expect(await answerOf(created)).toEqual({
      status: 400,
      body: { detail: `Thread ${thread_id} has no graph ID` },
    });
  });
});

describe("changing", () => {
  test("merges metadata at the top level", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create({
      metadata: { kept: 1, replaced: { a: 1 } },
    });
    const changed = await client.threads.update(thread_id, {
      metadata: { replaced: { b: 2 }, added: true },
    });
    expect(changed.metadata).toEqual({ kept: 1, replaced: { b: 2 }, added: true });
    expect(await client.threads.get(thread_id)).toEqual(changed);
    expect(await idsOf(client, { metadata: { added: true, kept: 1 } })).toEqual([thread_id]);
  });

  test("returns no body if none is wanted", async ({ client, server, expect }) => {
    const { thread_id } = await client.threads.create();
    const { status, body } = await send(
      server,
      "PATCH",
      `/threads/${thread_id}`,
      { metadata: { a: 1 } },
      { prefer: "return=minimal" },
    );
    expect([status, body]).toEqual([204, ""]);
    expect((await client.threads.get(thread_id)).metadata).toEqual({ a: 1 });
    await client.threads.update(thread_id, { metadata: { a: 2 }, returnMinimal: true });
    expect((await client.threads.get(thread_id)).metadata).toEqual({ a: 2 });
  });
});

describe("deleting", () => {
  test("removes the thread from everywhere", async ({ client, server, expect }) => {
    const { thread_id } = await client.threads.create({ metadata: { suite: "deleting" } });
    await client.runs.wait(thread_id, "branching", { input: {} });
    const [run] = await client.runs.list(thread_id);
    expect((await send(server, "DELETE", `/threads/${thread_id}`)).status).toBe(204);
    const missing = { status: 404, body: { detail: `Thread with ID ${thread_id} not found` } };
    for (const path of ["", "/state", "/history", "/runs"]) {
      expect(await answerOf(send(server, "GET", `/threads/${thread_id}${path}`))).toEqual(missing);
    }
    expect((await send(server, "GET", `/threads/${thread_id}/runs/${run?.run_id}`)).status).toBe(
      404,
    );
    expect(await answerOf(send(server, "DELETE", `/threads/${thread_id}`))).toEqual(missing);
    expect(await idsOf(client, { ids: [thread_id] })).toEqual([]);
    expect(await client.threads.count({ metadata: { suite: "deleting" } })).toBe(0);
  });

  test("ends a run that is under way", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const stream = client.runs.stream(thread_id, "forever", { input: {}, streamMode: "custom" });
    const events: string[] = [];
    for await (const { event } of stream) {
      if (events.length === 2) await client.threads.delete(thread_id);
      events.push(event);
    }
    expect(events.length).toBeGreaterThan(2);
    await expect(client.threads.get(thread_id)).rejects.toThrow("HTTP 404");
    await client.threads.create({ threadId: thread_id });
    expect(await client.runs.list(thread_id)).toEqual([]);
  });

  test("frees the id for a new, empty thread", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "branching", { input: {} });
    await client.threads.delete(thread_id);
    const again = await client.threads.create({ threadId: thread_id });
    expect(again).toMatchObject({ thread_id, values: null, metadata: {}, status: "idle" });
    expect(await client.threads.getHistory(thread_id)).toEqual([]);
    expect(await idsOf(client, { ids: [thread_id] })).toEqual([thread_id]);
  });
});

describe("a thread that does not exist", () => {
  test.for([
    ["GET", "", `Thread with ID ${MISSING_ID} not found`],
    ["PATCH", "", "Thread not found"],
    ["DELETE", "", `Thread with ID ${MISSING_ID} not found`],
  ] as const)("is not found by %s", async ([method, path, detail], { server, expect }) => {
    const body = method === "PATCH" ? { metadata: {} } : undefined;
    expect(await answerOf(send(server, method, `/threads/${MISSING_ID}${path}`, body))).toEqual({
      status: 404,
      body: { detail },
    });
  });
});

describe("searching", () => {
  test("filters by a part of the metadata", async ({ client, expect }) => {
    const [first, second, third] = await createThree(client, "metadata");
    const suite = "metadata";
    const order = { sortBy: "created_at", sortOrder: "asc" } as const;
    const find = (metadata: object) =>
      idsOf(client, { metadata: { suite, ...metadata }, ...order });
    expect(await find({})).toEqual([first, second, third]);
    expect(await find({ index: 1 })).toEqual([second]);
    expect(await find({ index: "1" })).toEqual([]);
    expect(await find({ nested: { even: true } })).toEqual([first, third]);
    expect(await find({ nested: { tags: [2] } })).toEqual([third]);
    expect(await find({ nested: { none: null } })).toEqual([]);
  });

  test("lists threads by a query like a search", async ({ client, server, expect }) => {
    const [first, second, third] = await createThree(client, "list");
    const list = async (query: string) => {
      const answer = await send(server, "GET", `/threads?${query}`);
      const threads = answer.body as { thread_id: string }[];
      return { answer, ids: threads.map(({ thread_id }) => thread_id), threads };
    };
    const all = `ids=${first}&ids=${second}&ids=${third}`;
    const found = await list(`${all}&sort_by=created_at&sort_order=asc&limit=2&status=idle`);
    expect(found.ids).toEqual([first, second]);
    expect(found.threads[0]).toEqual(await client.threads.get(first));
    expect(found.answer.headers.get("x-pagination-total")).toBe("3");
    expect(found.answer.headers.get("x-pagination-next")).toBe("2");
    const next = await list(`${all}&sort_by=created_at&sort_order=asc&offset=2&select=thread_id`);
    expect(next.threads).toEqual([{ thread_id: third }]);
    expect((await list(`ids=["${second}"]&limit=1`)).ids).toEqual([second]);
    for (const query of ["limit=0", "limit=1001", "status=done", "ids=x", "sort_by=name"]) {
      expect([query, (await send(server, "GET", `/threads?${query}`)).status]).toEqual([
        query,
        422,
      ]);
    }
  });

  test("filters by ids, where none means no filter", async ({ client, expect }) => {
    const [first, , third] = await createThree(client, "ids");
    const ids = [third, MISSING_ID, first];
    expect((await idsOf(client, { ids })).toSorted()).toEqual([first, third].toSorted());
    expect(await idsOf(client, { ids: [], metadata: { suite: "ids" } })).toHaveLength(3);
    expect(await idsOf(client, { ids: [first], metadata: { suite: "other" } })).toEqual([]);
  });

  test("filters by status and by values", async ({ client, expect }) => {
    const suite = "states";
    const [idle, interrupted, failed] = await createThree(client, suite);
    const { thread_id: busy } = await client.threads.create({ metadata: { suite } });
    await client.runs.wait(idle, "branching", { input: { trail: ["in"] } });
    await client.runs.wait(interrupted, "interrupts", { input: {} });
    await client.runs.wait(failed, "throws", {
      input: { message: "no" },
      raiseError: false,
    });
    await client.runs.create(busy, "forever", { input: {} });
    const find = (search: Search) => idsOf(client, { metadata: { suite }, ...search });
    // The index lags behind the threads: only creations and changes by request are in it at once.
    await vi.waitFor(async () => {
      expect(await find({ status: "idle" })).toEqual([idle]);
      expect(await find({ status: "interrupted" })).toEqual([interrupted]);
      expect(await find({ status: "error" })).toEqual([failed]);
      expect(await find({ status: "busy" })).toEqual([busy]);
    }, 60_000);
    expect(await find({ values: { counter: 3 } })).toEqual([idle]);
    expect(await find({ values: { trail: ["second"] } })).toEqual([idle]);
    expect(await find({ values: { before: "kept" } })).toEqual([failed]);
    expect(await client.threads.count({ metadata: { suite }, values: { counter: 3 } })).toBe(1);
    expect(await client.threads.count({ metadata: { suite }, status: "error" })).toBe(1);
    expect(await client.threads.count({ metadata: { suite } })).toBe(4);
    const [found] = await client.threads.search({ ids: [interrupted] });
    expect(found).toEqual(await client.threads.get(interrupted));
    await client.threads.delete(busy);
  });

  test("sorts by the newest change first by default", async ({ client, expect }) => {
    const suite = "sorting";
    const [first, second, third] = await createThree(client, suite);
    await client.threads.update(second, { metadata: { touched: true } });
    const find = (search: Search) => idsOf(client, { metadata: { suite }, ...search });
    expect(await find({})).toEqual([second, third, first]);
    expect(await find({ sortBy: "created_at" })).toEqual([third, second, first]);
    expect(await find({ sortBy: "created_at", sortOrder: "asc" })).toEqual([first, second, third]);
    expect(await find({ sortBy: "thread_id", sortOrder: "asc" })).toEqual(
      [first, second, third].toSorted(),
    );
    expect(await find({ sortBy: "updated_at", sortOrder: "asc" })).toEqual([first, third, second]);
  });

  test("pages, and reports the total and where the next page begins", async ({
    client,
    server,
    expect,
  }) => {
    const [first, second, third] = await createThree(client, "pages");
    const page = async (limit: number, offset: number) => {
      const search = { metadata: { suite: "pages" }, sort_by: "created_at", limit, offset };
      const { body, headers } = await send(server, "POST", "/threads/search", search);
      return {
        ids: (body as { thread_id: string }[]).map(({ thread_id }) => thread_id),
        total: headers.get("x-pagination-total"),
        next: headers.get("x-pagination-next"),
      };
    };
    expect(await page(2, 0)).toEqual({ ids: [third, second], total: "3", next: "2" });
    expect(await page(2, 2)).toEqual({ ids: [first], total: "3", next: null });
    expect(await page(1, 1)).toEqual({ ids: [second], total: "3", next: "2" });
    expect(await page(5, 5)).toEqual({ ids: [], total: "3", next: null });
  });

  test("returns only the selected fields", async ({ client, expect }) => {
    const [first] = await createThree(client, "select");
    const found = await client.threads.search({ ids: [first], select: ["thread_id", "status"] });
    expect(found).toEqual([{ thread_id: first, status: "idle" }]);
  });

  test("extracts the values at the given paths", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create({ metadata: { tags: ["a", "b"] } });
    await client.runs.wait(thread_id, "appender", { input: { messages: [human("one")] } });
    await vi.waitFor(async () => {
      const found = await client.threads.search({
        ids: [thread_id],
        select: ["thread_id"],
        extract: {
          last: "values.messages[-1].content",
          first_type: "values.messages[0].type",
          tag: "metadata.tags[1]",
          missing: "values.nothing.here",
        },
      });
      expect(found).toEqual([
        {
          thread_id,
          extracted: { last: "reply 1 to: one", first_type: "human", tag: "b", missing: null },
        },
      ]);
    }, 60_000);
  });

  test("refuses a path with an unknown root", async ({ server, expect }) => {
    const { status, body } = await send(server, "POST", "/threads/search", {
      extract: { secret: "workspace_id" },
    });
    expect(status).toBe(422);
    expect(body).toMatchObject({ detail: [{ loc: ["body", "extract", "secret"] }] });
  });

  test("shows values that are too large for the index", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const text = "x".repeat(600_000);
    const input = { messages: [human(text)] };
    await client.runs.wait(thread_id, "appender", { input });
    await vi.waitFor(async () => {
      const [found] = await client.threads.search({ ids: [thread_id] });
      expect(found).toEqual(await client.threads.get(thread_id));
      expect(found?.values).toMatchObject({ turns: 1 });
    }, 60_000);
  });
});
