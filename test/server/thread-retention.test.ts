import { describe, vi } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { ISO_TIME, MISSING_ID } from "../support/uuid.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testInWorkspace();

const WITH_TTL = { include: ["ttl"] as "ttl"[] };

describe("the retention of a thread", () => {
  test("is set on creation and changed later, and returned on request", async ({
    client,
    server,
    expect,
  }) => {
    const { thread_id, ...made } = await client.threads.create({ ttl: 60 });
    expect(made).not.toHaveProperty("ttl");
    const { ttl } = (await client.threads.get(thread_id, WITH_TTL)) as { ttl?: object };
    expect(ttl).toEqual({
      strategy: "delete",
      ttl_minutes: 60,
      expires_at: expect.stringMatching(ISO_TIME),
    });
    await client.threads.update(thread_id, { ttl: { ttl: 90, strategy: "keep_latest" } as never });
    expect(await client.threads.get(thread_id, WITH_TTL)).toMatchObject({
      ttl: { strategy: "keep_latest", ttl_minutes: 90 },
    });
    const plain = await send(server, "GET", `/threads/${thread_id}`);
    expect(plain.body).not.toHaveProperty("ttl");
    const lasting = await client.threads.create();
    expect(await client.threads.get(lasting.thread_id, WITH_TTL)).toMatchObject({ ttl: null });
  });

  test("deletes it, in lists too", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create({ ttl: 0.000_1 });
    await vi.waitFor(
      async () => expect(await client.threads.search({ ids: [thread_id] })).toEqual([]),
      { timeout: 150_000, interval: 50 },
    );
    await expect(client.threads.get(thread_id)).rejects.toThrow("HTTP 404");
  });

  test.for([
    [{ ttl: 0 }, "ttl.ttl", "greater_than"],
    [{ ttl: 1e12 }, "ttl.ttl", "less_than_equal"],
    [{ ttl: "1" }, "ttl.ttl", "float_type"],
    [{ ttl: 1, strategy: "archive" }, "ttl.strategy", "enum"],
    [{ strategy: "delete" }, "ttl.ttl", "missing"],
    [7, "ttl", "dict_type"],
  ] as const)("is refused if it is invalid: %j", async ([ttl, field, type], { server, expect }) => {
    for (const [method, path] of [
      ["POST", "/threads"],
      ["PATCH", `/threads/${MISSING_ID}`],
    ] as const) {
      const refused = await send(server, method, path, { ttl });
      expect(refused).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", ...field.split(".")], type }] },
      });
    }
  });
});

describe("pruning", () => {
  test("deletes the threads, and counts the existing ones", async ({ client, expect }) => {
    const threads = await Promise.all([1, 2].map(() => client.threads.create()));
    const ids = threads.map(({ thread_id }) => thread_id);
    expect(await client.threads.prune([...ids, ...ids, MISSING_ID])).toEqual({ pruned_count: 2 });
    expect(await client.threads.search({ ids })).toEqual([]);
    expect(await client.threads.prune(ids)).toEqual({ pruned_count: 0 });
  });

  test("keeps the latest state on request, from which the thread continues", async ({
    client,
    expect,
  }) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "branching", { input: {}, interruptBefore: ["third"] });
    const before = await client.threads.getState(thread_id);
    const kept = await client.threads.prune([thread_id], { strategy: "keep_latest" });
    expect(kept).toEqual({ pruned_count: 1 });
    expect(await client.threads.getHistory(thread_id)).toEqual([
      { ...before, parent_checkpoint: null },
    ]);
    expect(await client.runs.wait(thread_id, "branching", { input: null })).toEqual({
      counter: 3,
      trail: ["first", "second", "third"],
    });
  });

  test("leaves the threads of another workspace alone", async ({ client, server, expect }) => {
    const { thread_id } = await client.threads.create();
    const { apiKey } = await makeWorkspace(server, "another one");
    const other = server.client({ apiKey });
    for (const strategy of ["delete", "keep_latest"] as const) {
      expect(await other.threads.prune([thread_id], { strategy })).toEqual({ pruned_count: 0 });
    }
    expect((await client.threads.get(thread_id)).thread_id).toBe(thread_id);
  });

  test.for([
    [{}, "thread_ids", "missing"],
    [{ thread_ids: [] }, "thread_ids", "too_short"],
    [{ thread_ids: Array(1001).fill(MISSING_ID) }, "thread_ids", "too_long"],
    [{ thread_ids: [MISSING_ID], strategy: "archive" }, "strategy", "enum"],
  ] as const)(
    "is refused when it is invalid: %#",
    async ([body, field, type], { server, expect }) => {
      expect(await answerOf(send(server, "POST", "/threads/prune", body))).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", field], type }] },
      });
    },
  );
});

describe("a thread that is created with supersteps", () => {
  const updates = (as_node: string) => [{ updates: [{ values: { counter: 1 }, as_node }] }];

  test("has the state that they lead to", async ({ client, expect }) => {
    const made = await client.threads.create({
      graphId: "branching",
      supersteps: [{ updates: [{ values: { trail: ["made"] }, asNode: "first" }] }],
    });
    expect(made).toMatchObject({ status: "interrupted", values: { trail: ["made"] } });
  });

  test("is not created if one of them is refused", async ({ server, client, expect }) => {
    const thread_id = crypto.randomUUID();
    const metadata = { graph_id: "branching" };
    const supersteps = [...updates("first"), ...updates("nobody")];
    const refused = await send(server, "POST", "/threads", { thread_id, metadata, supersteps });
    expect(refused.status).toBe(422);
    await expect(client.threads.get(thread_id)).rejects.toThrow("HTTP 404");
    expect(await client.threads.search({ ids: [thread_id] })).toEqual([]);
  });

  test("is left unchanged if it existed", async ({ client, expect }) => {
    const payload = { graphId: "branching", ifExists: "do_nothing" } as const;
    const supersteps = [{ updates: [{ values: { counter: 1 }, asNode: "first" }] }];
    const threadId = crypto.randomUUID();
    await client.threads.create({ ...payload, threadId, supersteps });
    await client.threads.create({ ...payload, threadId, supersteps });
    expect((await client.threads.getState(threadId)).values).toMatchObject({ counter: 1 });
  });
});
