import { randomUUID } from "node:crypto";
import type { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { human } from "../support/messages.ts";
import { testWithServer } from "../support/server.ts";
import { eventsOf, lifecycleOf, openSocket, readEvents } from "../support/thread-events.ts";
import { collect } from "../support/tracing.ts";

const test = testWithServer();

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** Opens the official client's stream of a new thread. */
function streamOf(client: Client, transport: "sse" | "websocket", assistantId: string) {
  return client.threads.stream(randomUUID(), { assistantId, transport });
}

describe.for(["sse", "websocket"] as const)("the official client by %s", (transport) => {
  test("receives the values and the messages of a run", async ({ client, expect }) => {
    const thread = streamOf(client, transport, "agent");
    const { messages } = thread;
    await thread.run.start({ input: { messages: [human("hello")] } });
    const texts = (await collect(messages)).map(async (message) => [
      await message.text,
      (await message.toolCalls).map(({ name, args }) => [name, args]),
    ]);
    expect(await Promise.all(texts)).toEqual([
      ["Let me look that up", [["lookup", { query: "hello" }]]],
      ["The answer is HELLO", []],
    ]);
    const values = (await thread.output) as { messages: { content: string }[] };
    expect(values.messages.map(({ content }) => content)).toEqual([
      "hello",
      "Let me look that up",
      "HELLO",
      "The answer is HELLO",
    ]);
    await thread.close();
  });

  test("receives tool calls and their results", async ({ client, expect }) => {
    const thread = streamOf(client, transport, "tools");
    const { toolCalls } = thread;
    await thread.run.start({ input: { messages: [human("forecast Bern")] } });
    const calls = await Promise.all(
      (await collect(toolCalls)).map(async ({ name, callId, input, output }) => ({
        name,
        callId,
        input,
        output: await output,
      })),
    );
    // The client reports a call when it begins and again when it has ended.
    const call = {
      name: "forecast",
      callId: "call_forecast",
      input: { city: "Bern" },
      output: "It is sunny in Bern",
    };
    expect(calls).toEqual([call, call]);
    await thread.close();
  });

  test("answers interrupts, one at a time and several at once", async ({ client, expect }) => {
    const thread = streamOf(client, transport, "interrupts");
    await thread.run.start({ input: {} });
    await thread.output;
    const [first] = thread.interrupts;
    expect(thread.interrupted).toBe(true);
    expect(first).toEqual({
      interruptId: expect.stringMatching(INTERRUPT_ID),
      payload: { question: "first" },
      namespace: [],
    });
    const events = await thread.subscribe(["input", "lifecycle"]);
    const answer = (response: string) =>
      thread.input.respond({
        namespace: [],
        interrupt_id: first?.interruptId ?? "",
        response,
      });
    await answer("A");
    const seen: unknown[] = [];
    for await (const event of events) {
      if (event.method !== "lifecycle") seen.push(event.params.data);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([
      { interrupt_id: first?.interruptId, payload: { question: "first" } },
      { interrupt_ids: [first?.interruptId] },
      {
        interrupt_id: expect.stringMatching(INTERRUPT_ID),
        payload: { question: "second", first: "A" },
      },
    ]);
    await thread.close();

    const parallel = streamOf(client, transport, "interrupts");
    await parallel.run.start({ input: { mode: "parallel" } });
    await parallel.output;
    const responses = parallel.interrupts.map(({ interruptId, payload }) => ({
      namespace: [],
      interrupt_id: interruptId,
      response: `to ${(payload as { question: string }).question}`,
    }));
    expect(responses).toHaveLength(2);
    await parallel.input.respond({ responses });
    const { threadId } = parallel;
    const [run] = await client.runs.list(threadId);
    await client.runs.join(threadId, run?.run_id ?? "");
    const { values } = await parallel.state.get({ namespace: [] });
    expect(values).toMatchObject({
      answers: { left: "to left", right: "to right" },
      finished: true,
    });
    const again = parallel.input.respond({ responses });
    await expect(again).rejects.toMatchObject({ code: "no_such_interrupt" });
    await parallel.close();
  });

  test("forks a thread at a checkpoint", async ({ client, expect }) => {
    const thread = streamOf(client, transport, "slow");
    await thread.run.start({ input: { label: "one", steps: 2, delay_ms: 1 } });
    await thread.output;
    const { checkpoints } = await thread.state.listCheckpoints({});
    expect(checkpoints.map(({ step, node_name }) => [step, node_name])).toEqual([
      [3, "step"],
      [2, "step"],
      [1, "begin"],
      [0, "__start__"],
      [-1, undefined],
    ]);
    const checkpoint_id = checkpoints[2]?.id ?? "";
    const forked = await thread.state.fork({ checkpoint_id });
    expect(forked).toEqual({ run_id: expect.any(String), thread_id: thread.threadId });
    await client.runs.join(thread.threadId, forked.run_id);
    const state = await client.threads.getState(thread.threadId);
    expect(state.values).toMatchObject({ label: "one", done: 2 });
    await expect(thread.state.fork({ checkpoint_id: randomUUID() })).rejects.toMatchObject({
      code: "no_such_checkpoint",
    });
    await thread.close();
  });

  test("finds nested graphs, and the tree of what ran", async ({ client, expect }) => {
    const thread = streamOf(client, transport, "nested");
    const { run_id } = (await thread.run.start({ input: {} })) as { run_id: string };
    await thread.output;
    const { tree } = await thread.agent.getTree({ run_id });
    expect(tree).toEqual({
      namespace: [],
      status: "completed",
      graph_name: "nested",
      children: [
        {
          namespace: [expect.stringMatching(/^child:/)],
          status: "completed",
          graph_name: "child",
          children: [
            {
              namespace: [expect.stringMatching(/^child:/), expect.stringMatching(/^grandchild:/)],
              status: "completed",
              graph_name: "grandchild",
            },
          ],
        },
      ],
    });
    const inner = await thread.state.get({ namespace: ["child"], keys: ["inner"] });
    expect(inner.values).toEqual({ inner: "grandchild" });
    await expect(thread.state.get({ namespace: ["cousin"] })).rejects.toMatchObject({
      code: "no_such_namespace",
    });
    await thread.close();
  });

  test("receives a graph's custom events", async ({ client, expect }) => {
    const thread = streamOf(client, transport, "custom_stream");
    await thread.run.start({ input: { count: 3, size: 1 } });
    await thread.output;
    const custom = await thread.subscribe({ channels: ["custom"] });
    const written: unknown[] = [];
    for await (const { params } of custom) {
      written.push((params.data as { payload: { index: number } }).payload.index);
      if (written.length === 3) break;
    }
    expect(written).toEqual([0, 1, 2]);
    await thread.close();
  });
});

describe("events of a thread", () => {
  test("have numbers that grow over its runs, and can be read from any number on", async ({
    server,
    client,
    expect,
  }) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "branching", { input: {} });
    for (const steps of [1, 2]) {
      await server.fetch(`/threads/${thread_id}/commands`, {
        method: "POST",
        body: JSON.stringify({
          id: steps,
          method: "run.start",
          params: { assistant_id: "slow", input: { steps, delay_ms: 1 } },
        }),
      });
    }
    const all = await readEvents(server, thread_id, { since: 0 }, 2);
    expect(lifecycleOf(all)).toEqual(["running", "completed", "running", "completed"]);
    const numbers = all.map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
    expect(new Set(all.map(({ event_id }) => event_id)).size).toBe(all.length);
    const middle = all[Math.floor(all.length / 2)]?.seq ?? 0;
    const rest = await readEvents(server, thread_id, { since: middle }, 1);
    expect(rest).toEqual(all.filter(({ seq }) => seq > middle));
  });

  test("come once for several subscriptions, and missed ones come on request", async ({
    server,
    client,
    expect,
  }) => {
    const { thread_id } = await client.threads.create();
    await using socket = await openSocket(server, thread_id);
    for (const channels of [["values", "lifecycle"], ["lifecycle"], ["values"]]) {
      await socket.command("subscription.subscribe", { channels });
    }
    await socket.command("run.start", { assistant_id: "branching", input: {} });
    const events = await socket.untilEnded(1);
    const ids = events.map(({ event_id }) => event_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(lifecycleOf(events)).toEqual(["running", "completed"]);

    await using later = await openSocket(server, thread_id);
    const { result } = await later.command("subscription.subscribe", {
      channels: ["values", "lifecycle"],
    });
    expect(await later.untilEnded(1)).toEqual(events);
    const { subscription_id, replayed_events } = result as Record<string, unknown>;
    expect(replayed_events).toBe(events.length);
    const off = () => later.command("subscription.unsubscribe", { subscription_id });
    expect(await off()).toMatchObject({ type: "success", result: {} });
    expect(await off()).toMatchObject({ type: "error", error: "no_such_subscription" });
  });

  test("come once and in order to a client that subscribes by several commands", async ({
    server,
    client,
    expect,
  }) => {
    // Like the official client, it does not wait for answers between its subscriptions. Fifty of these at once keep
    // the machine busy.
    const numbersOfOne = async (): Promise<number[]> => {
      const { thread_id } = await client.threads.create();
      await using socket = await openSocket(server, thread_id);
      await socket.command("run.start", { assistant_id: "branching", input: {} });
      const wanted = [["lifecycle", "input"], ["values", "lifecycle", "updates"], ["tasks"]];
      await Promise.all(
        wanted.map((channels) => socket.command("subscription.subscribe", { channels })),
      );
      return (await socket.untilEnded(1)).map(({ seq }) => seq);
    };
    for (const numbers of await Promise.all(Array.from({ length: 50 }, numbersOfOne))) {
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      expect(numbers.length).toBeGreaterThan(5);
    }
  });

  test("reach a hundred readers of each kind completely and in order", async ({
    server,
    client,
    expect,
  }) => {
    const { thread_id } = await client.threads.create();
    const sockets = await Promise.all(
      Array.from({ length: 100 }, () => openSocket(server, thread_id)),
    );
    try {
      const channels = ["custom", "lifecycle"];
      for (const socket of sockets) await socket.command("subscription.subscribe", { channels });
      const readers = Array.from({ length: 100 }, () =>
        readEvents(server, thread_id, { channels }, 1),
      );
      await sockets[0]?.command("run.start", {
        assistant_id: "custom_stream",
        input: { count: 50, size: 10, delay_ms: 5 },
      });
      const [first, ...others] = await Promise.all([
        ...readers,
        ...sockets.map((socket) => socket.untilEnded(1)),
      ]);
      expect(
        eventsOf(first ?? [], "custom").map((data) => (data as Written).payload.index),
      ).toEqual(Array.from({ length: 50 }, (_, index) => index));
      for (const other of others) expect(other).toEqual(first);
    } finally {
      for (const socket of sockets) socket.close();
    }
  });

  test("follow the strategies of concurrent runs", async ({ client, expect }) => {
    const thread = streamOf(client, "sse", "slow");
    const start = (multitaskStrategy: "reject" | "interrupt" | "rollback" | "enqueue") =>
      thread.run.start({
        input: { label: multitaskStrategy, steps: 100_000, delay_ms: 100 },
        multitaskStrategy,
      });
    await start("enqueue");
    await expect(start("reject")).rejects.toMatchObject({ code: "invalid_argument" });
    await start("interrupt");
    await start("rollback");
    const runs = await client.runs.list(thread.threadId);
    expect(runs).toHaveLength(2);
    await client.threads.delete(thread.threadId);
    await thread.close();
  });
});

type Written = { payload: { index: number } };
