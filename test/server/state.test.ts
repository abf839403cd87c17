import type { Client, ThreadState } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../support/uuid.ts";

const test = testInWorkspace();

type Branching = { counter: number; trail: string[] };

/** Returns a thread with a finished run of the three steps first, second, third. */
async function runBranching(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, "branching", { input: {} });
  return thread_id;
}

/** Returns a thread with a run that stopped before the second of its three steps. */
async function stopBeforeSecond(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, "branching", { input: {}, interruptBefore: ["second"] });
  return thread_id;
}

function outline({ metadata, next, values }: ThreadState<Branching>): unknown[] {
  return [metadata?.["source"], metadata?.["step"], next, values.trail];
}

function checkpointOf(state: ThreadState<Branching> | undefined): string {
  const id = state?.checkpoint.checkpoint_id;
  if (typeof id !== "string") throw new Error("This state has no checkpoint");
  return id;
}

describe("the state of a thread", () => {
  test("is empty before its first run", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    expect(await client.threads.getState(thread_id)).toEqual({
      values: {},
      next: [],
      tasks: [],
      metadata: null,
      created_at: null,
      checkpoint: null,
      parent_checkpoint: null,
    });
    expect(await client.threads.getHistory(thread_id)).toEqual([]);
  });

  test("shows its checkpoint and its origin", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create({ metadata: { owner: "me" } });
    await client.runs.wait(thread_id, "branching", {
      input: {},
      interruptBefore: ["second"],
      metadata: { purpose: "test" },
      config: { configurable: { flavour: "mint", langgraph_auth_user_id: "somebody" } },
    });
    const [run] = await client.runs.list(thread_id);
    const checkpoint = {
      thread_id,
      checkpoint_ns: "",
      checkpoint_id: expect.stringMatching(UUID),
      checkpoint_map: null,
    };
    expect(await client.threads.getState(thread_id)).toEqual({
      values: { counter: 1, trail: ["first"] },
      next: ["second"],
      tasks: [
        {
          id: expect.stringMatching(UUID),
          name: "second",
          path: ["__pregel_pull", "second"],
          error: null,
          interrupts: [],
          checkpoint: null,
          state: null,
          result: null,
        },
      ],
      metadata: {
        source: "loop",
        step: 1,
        parents: {},
        thread_id,
        run_id: run?.run_id,
        run_attempt: 1,
        graph_id: "branching",
        assistant_id: run?.assistant_id,
        created_by: "system",
        owner: "me",
        purpose: "test",
        flavour: "mint",
      },
      created_at: expect.stringMatching(ISO_TIME),
      checkpoint,
      parent_checkpoint: checkpoint,
    });
  });

  test("shows the next nodes as long as its run has more to do", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "slow", {
      input: { steps: 100_000, delay_ms: 20 },
      streamMode: "values",
      streamResumable: true,
    });
    const values = client.runs.joinStream(thread_id, run_id);
    await values.next();
    const read: ThreadState<{ done: number }>[] = [];
    while (read.length < 100) read.push(await client.threads.getState(thread_id));
    expect(read.map(({ next }) => next).filter((next) => next.length === 0)).toEqual([]);
    const steps = read.map((state) => state.values.done ?? 0);
    expect(steps).toEqual(steps.toSorted((left, right) => left - right));
    await client.runs.cancel(thread_id, run_id, true);
    await values.return(undefined);
  });

  test("is read at a checkpoint, by path or by body", async ({ client, server, expect }) => {
    const thread_id = await runBranching(client);
    const history = await client.threads.getHistory<Branching>(thread_id);
    const wanted = history.find(({ values }) => values.trail.length === 2);
    const checkpoint_id = checkpointOf(wanted);
    expect(wanted?.next).toEqual(["third"]);
    expect(await client.threads.getState(thread_id, checkpoint_id)).toEqual(wanted);
    const checkpoint = { thread_id, checkpoint_ns: "", checkpoint_id, checkpoint_map: null };
    expect(await client.threads.getState(thread_id, checkpoint)).toEqual(wanted);
    const path = `/threads/${thread_id}/state/${checkpoint_id}?subgraphs=true`;
    expect((await send(server, "GET", path)).body).toEqual(wanted);
  });

  test("is empty at a checkpoint that does not exist", async ({ client, expect }) => {
    const thread_id = await runBranching(client);
    expect(await client.threads.getState(thread_id, MISSING_ID)).toMatchObject({
      values: {},
      next: [],
      tasks: [],
      checkpoint: { thread_id, checkpoint_id: MISSING_ID },
    });
  });
});

describe("the history of a thread", () => {
  test("lists the states, newest first", async ({ client, server, expect }) => {
    const thread_id = await runBranching(client);
    const history = await client.threads.getHistory<Branching>(thread_id);
    expect(history.map(outline)).toEqual([
      ["loop", 3, [], ["first", "second", "third"]],
      ["loop", 2, ["third"], ["first", "second"]],
      ["loop", 1, ["second"], ["first"]],
      ["loop", 0, ["first"], []],
      ["input", -1, ["__start__"], []],
    ]);
    expect(history[0]).toEqual(await client.threads.getState(thread_id));
    const parents = history.map(
      ({ parent_checkpoint }) => parent_checkpoint?.checkpoint_id ?? null,
    );
    expect(parents).toEqual([...history.slice(1).map(checkpointOf), null]);
    expect((await send(server, "GET", `/threads/${thread_id}/history`)).body).toEqual(history);
  });

  test("is restricted by a limit and to states before a checkpoint", async ({
    client,
    server,
    expect,
  }) => {
    const thread_id = await runBranching(client);
    const all = await client.threads.getHistory(thread_id);
    const path = `/threads/${thread_id}/history`;
    const second = all[1]?.checkpoint.checkpoint_id;
    const configs = [
      { configurable: { checkpoint_id: second } },
      { checkpoint_id: second },
      second,
    ];
    for (const before of configs) {
      const { body } = await send(server, "POST", path, { before, limit: 2 });
      expect(body).toEqual(all.slice(2, 4));
    }
    expect(await client.threads.getHistory(thread_id, { limit: 1 })).toEqual(all.slice(0, 1));
    expect((await send(server, "GET", `${path}?limit=2&before=${second}`)).body).toEqual(
      all.slice(2, 4),
    );
    expect((await send(server, "GET", `${path}?limit=0`)).status).toBe(422);
  });

  test("has ten states by default", async ({ client, server, expect }) => {
    const { thread_id } = await client.threads.create();
    for (let run = 0; run < 3; run += 1) {
      await client.runs.wait(thread_id, "branching", { input: {} });
    }
    const path = `/threads/${thread_id}/history`;
    expect((await send(server, "POST", path, {})).body).toHaveLength(10);
    expect(await client.threads.getHistory(thread_id, { limit: 1000 })).toHaveLength(15);
  });

  test("is complete whatever its size, and can start at a given state", async ({
    client,
    server,
    expect,
  }) => {
    const { thread_id } = await client.threads.create({ graphId: "branching" });
    const text = "語".repeat(4_000_000);
    const update = (values: object) =>
      client.threads.updateState(thread_id, { values, asNode: "first" });
    await update({ trail: [text] });
    for (let count = 0; count < 4; count += 1) await update({ counter: 1 });
    const response = await server.fetch(`/threads/${thread_id}/history`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    const bytes = await response.arrayBuffer();
    expect(bytes.byteLength).toBeGreaterThan(60_000_000);
    const history = JSON.parse(new TextDecoder().decode(bytes)) as ThreadState<Branching>[];
    expect(history.map(({ values }) => values.counter)).toEqual([4, 3, 2, 1, 0]);
    expect(history.every(({ values }) => values.trail[0] === text)).toBe(true);
    const [, second] = history;
    const path = `/threads/${thread_id}/history?limit=1&before=${checkpointOf(history[0])}`;
    expect((await send(server, "GET", path)).body).toEqual([second]);
  });

  test("is filtered by metadata", async ({ client, expect }) => {
    const thread_id = await stopBeforeSecond(client);
    await client.threads.updateState(thread_id, { values: { counter: 1 }, asNode: "second" });
    await client.runs.wait(thread_id, "branching", { input: null, metadata: { round: 2 } });
    const find = async (metadata: Record<string, unknown>) =>
      (await client.threads.getHistory<Branching>(thread_id, { metadata })).map(outline);
    expect(await find({ source: "update" })).toEqual([["update", 2, ["third"], ["first"]]]);
    expect(await find({ source: "loop", round: 2 })).toEqual([["loop", 3, [], ["first", "third"]]]);
    expect(await find({ step: 0 })).toEqual([["loop", 0, ["first"], []]]);
    expect(await find({ step: 99 })).toEqual([]);
  });
});

describe("updating the state", () => {
  test("acts as the named node, and determines the next nodes", async ({ client, expect }) => {
    const thread_id = await stopBeforeSecond(client);
    const updated = await client.threads.updateState(thread_id, {
      values: { counter: 10, trail: ["by hand"] },
      asNode: "second",
    });
    const state = await client.threads.getState<Branching>(thread_id);
    expect(updated).toEqual({ checkpoint: state.checkpoint });
    expect(outline(state)).toEqual(["update", 2, ["third"], ["first", "by hand"]]);
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "interrupted",
      values: { counter: 11, trail: ["first", "by hand"] },
    });
    expect(await client.runs.wait(thread_id, "branching", { input: null })).toEqual({
      counter: 12,
      trail: ["first", "by hand", "third"],
    });
  });

  test("acts as the last node if none is named", async ({ client, expect }) => {
    const thread_id = await stopBeforeSecond(client);
    await client.threads.updateState(thread_id, { values: { trail: ["more"] } });
    const state = await client.threads.getState<Branching>(thread_id);
    expect(outline(state)).toEqual(["update", 2, ["second"], ["first", "more"]]);
  });

  test("makes a checkpoint but changes nothing with null values", async ({ client, expect }) => {
    const thread_id = await runBranching(client);
    const before = await client.threads.getState<Branching>(thread_id);
    await client.threads.updateState(thread_id, { values: null, asNode: "first" });
    const after = await client.threads.getState<Branching>(thread_id);
    expect(after.values).toEqual(before.values);
    expect(after.next).toEqual(["second"]);
    expect(after.parent_checkpoint).toEqual(before.checkpoint);
  });

  test("makes a fork at an earlier checkpoint", async ({ client, expect }) => {
    const thread_id = await runBranching(client);
    const history = await client.threads.getHistory<Branching>(thread_id);
    const afterFirst = history.find(({ values }) => values.trail.length === 1);
    await client.threads.updateState(thread_id, {
      values: { trail: ["forked"] },
      checkpointId: checkpointOf(afterFirst),
      asNode: "second",
    });
    const forked = await client.threads.getState<Branching>(thread_id);
    expect(outline(forked)).toEqual(["update", 2, ["third"], ["first", "forked"]]);
    expect(forked.parent_checkpoint).toEqual(afterFirst?.checkpoint);
    expect(await client.threads.getHistory(thread_id)).toHaveLength(history.length + 1);
    expect(await client.runs.wait(thread_id, "branching", { input: null })).toEqual({
      counter: 2,
      trail: ["first", "forked", "third"],
    });
  });

  test("is refused while a run is in flight", async ({ client, server, expect }) => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "forever", { input: {} });
    const update = () => send(server, "POST", `/threads/${thread_id}/state`, { values: {} });
    const busy = { status: 409, body: { detail: "Thread is busy" } };
    expect(await answerOf(update())).toEqual(busy);
    await client.runs.cancel(thread_id, run_id, true);
    expect((await update()).status).toBe(200);
  });

  test("is refused if there is nothing to update", async ({ client, server, expect }) => {
    const { thread_id } = await client.threads.create();
    const update = (id: string, body: object) =>
      answerOf(send(server, "POST", `/threads/${id}/state`, body));
    expect(await update(thread_id, { values: {} })).toEqual({
      status: 400,
      body: { detail: `Thread ${thread_id} has no graph ID` },
    });
    expect(await update(MISSING_ID, { values: {} })).toEqual({
      status: 404,
      body: { detail: `Thread with ID ${MISSING_ID} not found` },
    });
  });

  test("is refused for a node that does not exist", async ({ client, server, expect }) => {
    const thread_id = await runBranching(client);
    const body = { values: { counter: 1 }, as_node: "nope" };
    expect(await answerOf(send(server, "POST", `/threads/${thread_id}/state`, body))).toEqual({
      status: 422,
      body: { detail: 'Node "nope" does not exist' },
    });
    expect(await client.threads.getHistory(thread_id)).toHaveLength(5);
  });

  test("starts a thread whose metadata names its graph", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create({ graphId: "branching" });
    await client.threads.updateState(thread_id, { values: { counter: 1 }, asNode: "second" });
    expect(await client.runs.wait(thread_id, "branching", { input: null })).toEqual({
      counter: 2,
      trail: ["third"],
    });
  });
});

describe("the state of subgraphs", () => {
  test("is referenced by a checkpoint, or included on request", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "nested", { input: { confirm: true } });
    const shallow = await client.threads.getState(thread_id);
    const [task] = shallow.tasks;
    expect([task?.name, task?.checkpoint, task?.state]).toEqual([
      "child",
      { thread_id, checkpoint_ns: `child:${task?.id}` },
      null,
    ]);
    const deep = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    const child = deep.tasks[0]?.state;
    const grandchild = child?.tasks[0]?.state;
    expect([child?.next, grandchild?.next]).toEqual([["grandchild"], ["confirm_step"]]);
    expect([child?.values, grandchild?.values]).toEqual([
      { confirm: true, trail: ["before"], inner: "child" },
      { confirm: true, trail: ["before"], inner: "child" },
    ]);
    const namespace = `child:${task?.id}`;
    expect(grandchild?.checkpoint.checkpoint_ns).toBe(
      `${namespace}|grandchild:${child?.tasks[0]?.id}`,
    );
    const own = await client.threads.getState(thread_id, {
      thread_id,
      checkpoint_ns: namespace,
      checkpoint_id: null,
      checkpoint_map: null,
    });
    expect([own.values, own.next]).toEqual([child?.values, child?.next]);
  });

  test("has a separate history", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "nested", { input: { confirm: true } });
    const state = await client.threads.getState(thread_id);
    const checkpoint_ns = `child:${state.tasks[0]?.id}`;
    const history = await client.threads.getHistory(thread_id, { checkpoint: { checkpoint_ns } });
    expect(history.map(({ next }) => next)).toEqual([
      ["grandchild"],
      ["child_step"],
      ["__start__"],
    ]);
    for (const { checkpoint } of history) expect(checkpoint.checkpoint_ns).toBe(checkpoint_ns);
  });
});
