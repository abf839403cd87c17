import type { Client, Run } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { collect, dataOf, namesOf } from "../support/run-events.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../support/uuid.ts";
import { newThread } from "../support/new-thread.ts";

const test = testInWorkspace();

const ALL_STEPS = { counter: 3, trail: ["first", "second", "third"] };

/** Starts a run that ends only by being cancelled, and waits until its first step is stored. */
async function startForever(client: Client, threadId: string): Promise<Run> {
  const run = await client.runs.create(threadId, "forever", { input: {} });
  await vi.waitFor(async () => {
    const history = await client.threads.getHistory(threadId, { metadata: { run_id: run.run_id } });
    if (history[0]?.next[0] !== "wait") throw new Error("It is not waiting yet");
  }, 60_000);
  return run;
}

function cancelPath(run: Run, query = ""): string {
  return `/threads/${run.thread_id}/runs/${run.run_id}/cancel${query}`;
}

describe("a background run", () => {
  test("is answered before it executes, and ends with success", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const created = await client.runs.create(thread_id, "branching", {
      input: { trail: ["in"] },
      metadata: { purpose: "test" },
      multitaskStrategy: "reject",
      streamMode: ["updates", "values"],
      streamResumable: true,
    });
    expect(created).toEqual({
      run_id: expect.stringMatching(UUID),
      thread_id,
      assistant_id: expect.stringMatching(UUID),
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: expect.stringMatching(ISO_TIME),
      status: "pending",
      metadata: { created_by: "system", purpose: "test" },
      multitask_strategy: "reject",
      kwargs: {
        input: { trail: ["in"] },
        command: null,
        checkpoint: null,
        context: {},
        interrupt_before: null,
        interrupt_after: null,
        stream_mode: ["updates", "values"],
        subgraphs: false,
        resumable: true,
        temporary: false,
        durability: "async",
        config: {
          configurable: {
            run_id: created.run_id,
            thread_id,
            graph_id: "branching",
            assistant_id: created.assistant_id,
          },
          metadata: { created_by: "system", purpose: "test" },
        },
      },
    });
    expect(await client.runs.join(thread_id, created.run_id)).toEqual({
      counter: 3,
      trail: ["in", "first", "second", "third"],
    });
    const ended = await client.runs.get(thread_id, created.run_id);
    expect(ended).toEqual({ ...created, status: "success", updated_at: ended.updated_at });
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "idle",
      values: { counter: 3, trail: ["in", "first", "second", "third"] },
      metadata: { graph_id: "branching", assistant_id: created.assistant_id },
    });
  });

  test("can be joined after it has ended, with the same result", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await client.runs.create(thread_id, "branching", { input: {} });
    const joined = await Promise.all([
      client.runs.join(thread_id, run_id),
      client.runs.join(thread_id, run_id),
    ]);
    await client.runs.wait(thread_id, "branching", { input: { trail: ["later"] } });
    expect([...joined, await client.runs.join(thread_id, run_id)]).toEqual([
      ALL_STEPS,
      ALL_STEPS,
      ALL_STEPS,
    ]);
  });

  test("returns its location", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const body = { assistant_id: "branching", input: {} };
    const created = await send(server, "POST", `/threads/${thread_id}/runs`, body);
    const { run_id } = created.body as Run;
    expect(created.headers.get("content-location")).toBe(`/threads/${thread_id}/runs/${run_id}`);
    for (const [suffix, target] of [
      ["stream", "stream"],
      ["wait", "join"],
    ]) {
      const { headers } = await send(server, "POST", `/threads/${thread_id}/runs/${suffix}`, body);
      const path = headers.get("content-location");
      expect(path).toMatch(new RegExp(`^/threads/${thread_id}/runs/[0-9a-f-]{36}$`));
      expect(headers.get("location")).toBe(`${path}/${target}`);
    }
  });

  test("reports the created run to the SDK's caller", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const created: unknown[] = [];
    const onRunCreated = (params: unknown) => void created.push(params);
    await client.runs.wait(thread_id, "branching", { input: {}, onRunCreated });
    const [run] = await client.runs.list(thread_id);
    expect(created).toEqual([{ run_id: run?.run_id, thread_id }]);
  });
});

describe("the list of runs", () => {
  test("has the newest ones first, in pages, filtered by status and with selected fields", async ({
    client,
    expect,
  }) => {
    const thread_id = await newThread(client);
    const ids: string[] = [];
    for (const kind of ["none", "error", "none"]) {
      const { run_id } = await client.runs.create(thread_id, "throws", {
        input: { kind, message: "no" },
      });
      await client.runs.join(thread_id, run_id);
      ids.unshift(run_id);
    }
    const list = async (options?: Parameters<Client["runs"]["list"]>[1]) =>
      (await client.runs.list(thread_id, options)).map(({ run_id }) => run_id);
    expect(await list()).toEqual(ids);
    expect(await list({ limit: 1, offset: 1 })).toEqual([ids[1]]);
    expect(await list({ limit: 2, offset: 2 })).toEqual([ids[2]]);
    expect(await list({ status: "error" })).toEqual([ids[1]]);
    const [selected] = await client.runs.list(thread_id, { select: ["status"], limit: 1 });
    expect(selected).toEqual({ status: "success" });
  });

  test.for([
    ["GET", `/threads/${MISSING_ID}/runs`, `Thread with ID ${MISSING_ID} not found`],
    ["GET", `/threads/${MISSING_ID}/runs/${MISSING_ID}`, "Run not found"],
    ["DELETE", `/threads/${MISSING_ID}/runs/${MISSING_ID}`, "Run not found"],
    ["POST", `/threads/${MISSING_ID}/runs/${MISSING_ID}/cancel`, "Run not found"],
    ["GET", `/threads/${MISSING_ID}/runs/${MISSING_ID}/join`, expectMissingThread()],
    ["GET", `/threads/${MISSING_ID}/runs/${MISSING_ID}/stream`, expectMissingThread()],
    ["GET", `/runs/${MISSING_ID}/join`, expectMissingThread()],
    ["GET", `/runs/${MISSING_ID}/stream`, expectMissingThread()],
  ] as const)("is a 404 for %s %s", async ([method, path, detail], { server, expect }) => {
    expect(await answerOf(send(server, method, path))).toEqual({ status: 404, body: { detail } });
  });

  test("is complete whatever its size", async ({ client, server, expect }) => {
    const { thread_id } = await client.threads.create();
    const text = "語".repeat(4_000_000);
    for (let count = 0; count < 5; count += 1) {
      await client.runs.create(thread_id, "branching", {
        input: { trail: [text, `${count}`] },
        afterSeconds: 3600,
      });
    }
    const { status, body } = await send(server, "GET", `/threads/${thread_id}/runs`);
    expect(status).toBe(200);
    const runs = body as { kwargs: { input: { trail: string[] } } }[];
    expect(runs.map(({ kwargs }) => kwargs.input.trail[1])).toEqual(["4", "3", "2", "1", "0"]);
    expect(runs.every(({ kwargs }) => kwargs.input.trail[0] === text)).toBe(true);
    const few = await send(server, "GET", `/threads/${thread_id}/runs?select=status&limit=2`);
    expect(few.body).toEqual([{ status: "pending" }, { status: "pending" }]);
  });

  test("does not show the runs of other threads", async ({ client, server, expect }) => {
    const [thread, other] = [await newThread(client), await newThread(client)];
    const { run_id } = await client.runs.create(thread, "branching", { input: {} });
    for (const path of ["", "/join", "/stream"]) {
      const answer = answerOf(send(server, "GET", `/threads/${other}/runs/${run_id}${path}`));
      expect(await answer).toEqual({ status: 404, body: { detail: "Run not found" } });
    }
    expect(await client.runs.list(other)).toEqual([]);
  });
});

describe("deleting a run", () => {
  test("removes it with its checkpoints", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "branching", { input: {} });
    const before = await client.threads.getState(thread_id);
    const { run_id } = await client.runs.create(thread_id, "branching", { input: {} });
    await client.runs.join(thread_id, run_id);
    await client.runs.delete(thread_id, run_id);
    await expect(client.runs.get(thread_id, run_id)).rejects.toThrow("HTTP 404");
    expect(await client.threads.getState(thread_id)).toEqual(before);
    expect((await client.threads.get(thread_id)).values).toEqual(before.values);
    expect(await client.threads.getHistory(thread_id)).toHaveLength(5);
  });

  test("ends a run that is under way", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await startForever(client, thread_id);
    await client.runs.delete(thread_id, run_id);
    expect(await client.runs.list(thread_id)).toEqual([]);
    expect(await client.threads.getHistory(thread_id)).toEqual([]);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle", values: null });
  });
});

describe("cancelling a run", () => {
  test("ends a running run, and keeps its steps", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const run = await startForever(client, thread_id);
    const joined = client.runs.join(thread_id, run.run_id);
    expect(await answerOf(send(server, "POST", cancelPath(run, "?wait=1")))).toEqual({
      status: 204,
      body: "",
    });
    expect((await client.runs.get(thread_id, run.run_id)).status).toBe("interrupted");
    expect(await joined).toEqual({ started: true });
    expect(await client.runs.join(thread_id, run.run_id)).toEqual({ started: true });
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "interrupted",
      values: { started: true },
      error: null,
    });
    expect((await client.threads.getState(thread_id)).next).toEqual(["wait"]);
  });

  test("does not wait unless requested", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const run = await startForever(client, thread_id);
    expect((await send(server, "POST", cancelPath(run, "?wait=0"))).status).toBe(202);
    await client.runs.join(thread_id, run.run_id);
    expect((await client.runs.get(thread_id, run.run_id)).status).toBe("interrupted");
  });

  test("removes the run and its checkpoints with rollback", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "slow", { input: { steps: 1, delay_ms: 0, label: "kept" } });
    const before = await client.threads.get(thread_id);
    const { run_id } = await client.runs.create(thread_id, "slow", {
      input: { steps: 2, delay_ms: 20_000, label: "gone" },
    });
    await client.runs.cancel(thread_id, run_id, true, "rollback");
    await expect(client.runs.get(thread_id, run_id)).rejects.toThrow("HTTP 404");
    expect(await client.threads.getHistory(thread_id, { metadata: { run_id } })).toEqual([]);
    const after = await client.threads.get(thread_id);
    expect([after.status, after.values]).toEqual(["idle", before.values]);
  });

  test("leaves the running one alone if it is pending", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const running = await startForever(client, thread_id);
    const kept = await client.runs.create(thread_id, "branching", { input: {} });
    const removed = await client.runs.create(thread_id, "branching", { input: {} });
    await client.runs.cancel(thread_id, kept.run_id, true, "interrupt");
    await client.runs.cancel(thread_id, removed.run_id, true, "rollback");
    const runs = await client.runs.list(thread_id);
    expect(runs.map(({ run_id, status }) => [run_id, status])).toEqual([
      [kept.run_id, "interrupted"],
      [running.run_id, "running"],
    ]);
    expect((await client.threads.get(thread_id)).status).toBe("busy");
    await client.runs.cancel(thread_id, running.run_id, true);
    expect((await client.threads.get(thread_id)).status).toBe("interrupted");
  });

  test("makes the thread idle if it is not due yet", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await client.runs.create(thread_id, "branching", {
      input: {},
      afterSeconds: 60,
    });
    expect((await client.threads.get(thread_id)).status).toBe("busy");
    await client.runs.cancel(thread_id, run_id, true);
    expect((await client.runs.get(thread_id, run_id)).status).toBe("interrupted");
    expect(await client.runs.join(thread_id, run_id)).toEqual({});
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  test("changes nothing if it has ended", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const run = await client.runs.create(thread_id, "branching", { input: {} });
    await client.runs.join(thread_id, run.run_id);
    expect((await send(server, "POST", cancelPath(run, "?wait=1"))).status).toBe(204);
    expect((await send(server, "POST", cancelPath(run, "?action=rollback"))).status).toBe(202);
    expect((await client.runs.get(thread_id, run.run_id)).status).toBe("success");
  });
});

describe("a run that fails", () => {
  test("ends with its error, and keeps the steps before", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const error = { error: "FixtureError", message: "no such luck" };
    const body = { assistant_id: "throws", input: { message: error.message } };
    const waited = send(server, "POST", `/threads/${thread_id}/runs/wait`, body);
    expect(await answerOf(waited)).toEqual({ status: 200, body: { __error__: error } });
    await expect(client.runs.wait(thread_id, "throws", { input: body.input })).rejects.toThrow(
      "FixtureError: no such luck",
    );
    const [run] = await client.runs.list(thread_id);
    expect(run?.status).toBe("error");
    expect(await client.runs.join(thread_id, run?.run_id ?? "")).toEqual({ __error__: error });
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "error",
      values: { message: error.message, before: "kept" },
      error,
    });
    const { tasks } = await client.threads.getState(thread_id);
    expect(tasks.map(({ name, error }) => [name, error])).toEqual([
      ["fail", '{"message":"no such luck","name":"FixtureError"}'],
    ]);
    const input = { kind: "none", message: "fine" };
    await client.runs.wait(thread_id, "throws", { input });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle", error: null });
  });

  test.for([
    ["https://unknown.invalid", /^fetch failed: no host of this name, .*reference = \w+\): /],
    ["http://127.0.0.1:1", /^Network connection lost: /],
  ] as const)(
    "names the host that it did not reach: %s",
    async ([host, reason], { client, expect }) => {
      const input = { request: { url: `${host}/path?token=secret`, headers: {}, body: {} } };
      const thread_id = await newThread(client);
      await client.runs.wait(thread_id, "connected", { input, raiseError: false });
      const { error } = await client.threads.get(thread_id);
      expect(error).toEqual({ error: "Error", message: expect.stringMatching(reason) });
      expect(error).toEqual({ error: "Error", message: expect.stringMatching(`: ${host}$`) });
    },
  );

  test("ends with an error when a string was thrown", async ({ client, expect }) => {
    const events = await collect(
      client.runs.stream(null, "throws", { input: { kind: "string", message: "just text" } }),
    );
    expect(namesOf(events).at(-1)).toBe("error");
    // LangGraph itself fails on the string, with an error that contains the text.
    expect(dataOf(events, "error")).toEqual([
      { error: expect.any(String), message: expect.stringContaining("just text") },
    ]);
  });

  test("ends at its recursion limit", async ({ client, expect }) => {
    const stream = client.runs.stream(null, "slow", {
      input: { steps: 100, delay_ms: 0 },
      config: { recursion_limit: 4 },
      streamMode: "updates",
    });
    const events = await collect(stream);
    expect(namesOf(events)).toEqual(["metadata", ...Array(4).fill("updates"), "error"]);
    expect(dataOf(events, "error")).toEqual([
      {
        error: "GraphRecursionError",
        message: expect.stringContaining("Recursion limit of 4 reached"),
      },
    ]);
  });

  test("ends with the error of a graph factory", async ({ client, server, expect }) => {
    const body = { assistant_id: "factory", config: { configurable: { flavour: "broken" } } };
    expect(await answerOf(send(server, "POST", "/runs/wait", body))).toEqual({
      status: 200,
      body: { __error__: { error: "Error", message: "The factory has no such flavour" } },
    });
    expect(await client.runs.wait(null, "factory", { input: {} })).toMatchObject({
      served: "vanilla ice cream",
    });
  });
});

describe("a value that JSON cannot represent", () => {
  test.for([
    ["bigint", 'The value at "value" cannot be serialised: it is a BigInt.'],
    ["circular", 'The value at "value.self" cannot be serialised: it is a circular reference.'],
  ])(
    "fails the run and reports its place if its kind is %s",
    async ([kind, message], { client, expect }) => {
      const thread_id = await newThread(client);
      const error = { error: "UnserialisableValueError", message };
      const wait = () =>
        client.runs.wait(thread_id, "unserialisable", { input: { kind }, raiseError: false });
      expect(await wait()).toEqual({ __error__: error });
      expect(await client.threads.get(thread_id)).toMatchObject({ status: "error", error });
      // Whether the step after it still runs depends on LangGraph's timing.
      expect([[], ["go_on"]]).toContainEqual((await client.threads.getState(thread_id)).next);
    },
  );

  test.for(["function", "symbol"])(
    "is not stored and does not block the thread if its kind is %s",
    async (kind, { client, expect }) => {
      const thread_id = await newThread(client);
      const wait = (input: Record<string, unknown>) =>
        client.runs.wait(thread_id, "unserialisable", { input, raiseError: false });
      const message = `The value of channel "value" cannot be stored: it is a ${kind}`;
      expect(await wait({ kind })).toEqual({
        __error__: { error: "UnserialisableValueError", message },
      });
      const state = await client.threads.getState(thread_id);
      expect([state.values, state.next]).toEqual([{ kind }, ["make"]]);
      expect(await wait({ kind: "plain" })).toEqual({
        kind: "plain",
        value: { name: "plain" },
        after: "reached",
      });
    },
  );
});

function expectMissingThread(): string {
  return `Thread with ID ${MISSING_ID} not found`;
}
