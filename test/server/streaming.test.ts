import type { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { human } from "../support/messages.ts";
import { collect, consecutiveIds, dataOf, idsOf, namesOf } from "../support/run-events.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { UUID } from "../support/uuid.ts";
import { newThread } from "../support/new-thread.ts";

const test = testInWorkspace();

const TASK = /^[0-9a-f-]{36}$/;

type Payload = NonNullable<Parameters<Client["runs"]["stream"]>[2]>;

/** Returns the events of a run on a new thread, without the metadata that comes first. */
async function eventsOf(client: Client, graph: string, payload: Payload) {
  const stream = client.runs.stream(await newThread(client), graph, payload);
  const [first, ...events] = await collect(stream);
  if (first?.event !== "metadata") throw new Error("The stream does not begin with metadata");
  return events.map(({ event, data }) => [event, data]);
}

describe("a stream", () => {
  test("begins with the run's id and numbers its events", async ({ client, expect }) => {
    const created: { run_id: string; thread_id?: string }[] = [];
    const thread_id = await newThread(client);
    const stream = client.runs.stream(thread_id, "branching", {
      input: {},
      streamMode: ["values", "updates", "debug"],
      onRunCreated: (run) => created.push(run),
    });
    const events = await collect(stream);
    expect(events[0]).toEqual({
      id: "0",
      event: "metadata",
      data: { run_id: expect.stringMatching(UUID), attempt: 1 },
    });
    const [metadata] = dataOf(events, "metadata") as { run_id: string }[];
    expect(created).toEqual([{ run_id: metadata?.run_id, thread_id }]);
    expect(idsOf(events)).toEqual(consecutiveIds(events.length));
  });

  test("of a stateless run has ids, too", async ({ client, expect }) => {
    const events = await collect(client.runs.stream(null, "branching", { input: {} }));
    expect(idsOf(events)).toEqual(consecutiveIds(4));
  });

  test("always ends with the error of a failed run", async ({ client, expect }) => {
    const payload = { input: { message: "no such luck" }, streamMode: "updates" } as const;
    const expected = [
      ["updates", { prepare: { before: "kept" } }],
      ["error", { error: "FixtureError", message: "no such luck" }],
    ];
    // The end of a run races with the events that it wrote just before, so the test is repeated.
    for (let run = 0; run < 20; run += 1) {
      expect(await eventsOf(client, "throws", payload)).toEqual(expected);
    }
  });

  test("is in order, also beside others of its thread", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const streams = [1, 2, 3].map((step) =>
      collect(
        client.runs.stream(thread_id, "slow", {
          input: { label: `run ${step}`, steps: 2, delay_ms: 10 },
          streamMode: "updates",
        }),
      ),
    );
    for (const [index, events] of (await Promise.all(streams)).entries()) {
      const texts = dataOf(events, "updates").flatMap(
        (data) => (data as { step?: { messages: { content: string }[] } }).step?.messages ?? [],
      );
      expect(texts.map(({ content }) => content.slice(-6))).toEqual(["step 1", "step 2"]);
      expect(idsOf(events)).toEqual(consecutiveIds(events.length));
      expect(index).toBeLessThan(3);
    }
  });
});

describe("the stream mode", () => {
  test("values shows the whole state after each step", async ({ client, expect }) => {
    const input = { trail: ["in"] };
    expect(await eventsOf(client, "branching", { input })).toEqual([
      ["values", { counter: 0, trail: ["in"] }],
      ["values", { counter: 1, trail: ["in", "first"] }],
      ["values", { counter: 2, trail: ["in", "first", "second"] }],
      ["values", { counter: 3, trail: ["in", "first", "second", "third"] }],
    ]);
  });

  test("updates shows what each node returned", async ({ client, expect }) => {
    expect(await eventsOf(client, "branching", { input: {}, streamMode: "updates" })).toEqual([
      ["updates", { first: { counter: 1, trail: ["first"] } }],
      ["updates", { second: { counter: 1, trail: ["second"] } }],
      ["updates", { third: { counter: 1, trail: ["third"] } }],
    ]);
  });

  test("custom shows what the graph writes", async ({ client, expect }) => {
    const text = "\u2028\u2029\r\n\u0000\u{1F600}xx";
    const input = { count: 3, size: 2 };
    expect(await eventsOf(client, "custom_stream", { input, streamMode: "custom" })).toEqual([
      ["custom", { index: 0, text }],
      ["custom", { index: 1, text }],
      ["custom", { index: 2, text }],
    ]);
  });

  test("tasks shows each task as it begins and as it ends", async ({ client, expect }) => {
    const events = await eventsOf(client, "branching", { input: {}, streamMode: "tasks" });
    const values = [
      { counter: 0, trail: [] },
      { counter: 1, trail: ["first"] },
      { counter: 2, trail: ["first", "second"] },
    ];
    const id = expect.stringMatching(TASK);
    expect(events).toEqual(
      ["first", "second", "third"].flatMap((name, index) => [
        [
          "tasks",
          {
            id,
            name,
            input: values[index],
            triggers: [`branch:to:${name}`],
            interrupts: [],
            metadata: expect.objectContaining({ graph_id: "branching" }),
          },
        ],
        ["tasks", { id, name, error: null, result: { counter: 1, trail: [name] }, interrupts: [] }],
      ]),
    );
  });

  test("checkpoints shows each stored state", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const stream = client.runs.stream(thread_id, "branching", {
      input: {},
      streamMode: "checkpoints",
    });
    const shown = dataOf(await collect(stream), "checkpoints");
    const history = await client.threads.getHistory(thread_id);
    expect(shown).toMatchObject(
      history.toReversed().map(({ values, next, checkpoint, parent_checkpoint }) => ({
        values,
        next,
        checkpoint,
        parent_checkpoint,
      })),
    );
  });

  test("debug shows checkpoints in the form of the history, and tasks", async ({
    client,
    expect,
  }) => {
    const thread_id = await newThread(client);
    const payload = { input: {}, streamMode: "debug" } as const;
    const events = await collect(client.runs.stream(thread_id, "branching", payload));
    const shown = dataOf(events, "debug") as { type: string; step: number; payload: object }[];
    const kinds = shown.map(({ type, step }) => `${type} ${step}`);
    const ofStep = (step: number) => [`task ${step}`, `task_result ${step}`, `checkpoint ${step}`];
    expect(kinds).toEqual([
      "checkpoint -1",
      "checkpoint 0",
      ...ofStep(1),
      ...ofStep(2),
      ...ofStep(3),
    ]);
    const history = await client.threads.getHistory(thread_id);
    const checkpoints = shown.filter(({ type }) => type === "checkpoint");
    expect(checkpoints.map(({ payload }) => payload)).toMatchObject(
      history.toReversed().map(({ values, next, checkpoint, parent_checkpoint, metadata }) => ({
        values,
        next,
        checkpoint,
        parent_checkpoint,
        metadata: { source: metadata?.["source"], step: metadata?.["step"] },
      })),
    );
  });

  test("events shows LangChain's events within the graph", async ({ client, expect }) => {
    const events = await eventsOf(client, "agent", {
      input: { messages: [human("hi")] },
      streamMode: "events",
    });
    const shown = events.map(([, data]) => data as { event: string; name: string });
    expect(new Set(events.map(([event]) => event))).toEqual(new Set(["events"]));
    expect(shown[0]).toMatchObject({ event: "on_chain_start", name: "LangGraph" });
    expect(shown.at(-1)).toMatchObject({ event: "on_chain_end", name: "LangGraph" });
    const tokens = shown.filter(({ event }) => event === "on_chat_model_stream");
    expect(tokens.length).toBe(12);
    expect(tokens[0]).toMatchObject({
      name: "ScriptChatModel",
      run_id: expect.stringMatching(UUID),
      metadata: { langgraph_node: "agent", graph_id: "agent" },
      data: { chunk: { content: "Let ", type: expect.any(String) } },
    });
  });
});

describe("several stream modes", () => {
  test("share one stream in the order of events", async ({ client, expect }) => {
    const streamMode: ("values" | "updates" | "custom")[] = ["values", "updates", "custom"];
    const input = { count: 1, size: 0 };
    const all = await eventsOf(client, "custom_stream", { input, streamMode });
    expect(all).toEqual([
      ["values", { count: 1, size: 0, delay_ms: 0 }],
      ["custom", { index: 0, text: "\u2028\u2029\r\n\u0000\u{1F600}" }],
      ["updates", { write: { written: 1 } }],
      ["values", { count: 1, size: 0, delay_ms: 0, written: 1 }],
    ]);
  });

  test("can be repeated or empty", async ({ client, expect }) => {
    const names = async (streamMode: ("values" | "updates")[]) =>
      (await eventsOf(client, "branching", { input: {}, streamMode })).map(([name]) => name);
    expect(await names(["updates", "updates"])).toEqual(["updates", "updates", "updates"]);
    expect(await names([])).toEqual(["values", "values", "values"]);
  });

  test("do not change the answer of wait", async ({ client, server, expect }) => {
    const body = { assistant_id: "branching", input: {}, stream_mode: "custom" };
    const response = await server.fetch("/runs/wait", {
      method: "POST",
      body: JSON.stringify(body),
    });
    expect(await response.json()).toEqual({ counter: 3, trail: ["first", "second", "third"] });
    const thread_id = await newThread(client);
    const run = await client.runs.create(thread_id, "branching", {
      input: {},
      streamMode: "events",
    });
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ counter: 3 });
  });
});

describe("streamed messages", () => {
  const question = { ...human("hi there"), id: "question" };
  const input = { messages: [question] };

  test("come token by token, as tuples with their metadata", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const stream = client.runs.stream(thread_id, "agent", { input, streamMode: "messages-tuple" });
    const events = await collect(stream);
    expect(new Set(namesOf(events.slice(1)))).toEqual(new Set(["messages"]));
    const tuples = dataOf(events, "messages") as [{ content: string; type: string }, object][];
    expect(tuples.map(([{ content }]) => content)).toEqual([
      ..."Let |me |look |that |up||".split("|"),
      "HI THERE",
      ..."The |answer |is |HI |THERE|".split("|"),
    ]);
    const run = (await client.runs.list(thread_id))[0];
    expect(tuples[0]?.[1]).toMatchObject({
      langgraph_node: "agent",
      langgraph_step: 1,
      thread_id,
      run_id: run?.run_id,
      graph_id: "agent",
      assistant_id: run?.assistant_id,
      ls_provider: "fixture",
      ls_model_name: "scripted-1",
    });
    const toolCall = tuples.find(([message]) => "tool_calls" in message && message.content === "");
    expect(toolCall?.[0]).toMatchObject({
      tool_calls: [{ name: "lookup", args: { query: "hi there" }, id: "call-0" }],
    });
  });

  test("grow chunk by chunk, and are complete once", async ({ client, expect }) => {
    const stream = client.runs.stream(await newThread(client), "agent", {
      input,
      streamMode: "messages",
    });
    const events = await collect(stream);
    expect(namesOf(events)).toEqual([
      "metadata",
      "messages/complete",
      "messages/metadata",
      ...Array<string>(7).fill("messages/partial"),
      "messages/complete",
      "messages/complete",
      "messages/metadata",
      ...Array<string>(6).fill("messages/partial"),
      "messages/complete",
    ]);
    const textsIn = (name: string) =>
      dataOf(events, name).map((data) => (data as { content: string }[])[0]?.content);
    expect(textsIn("messages/complete")).toEqual([
      "hi there",
      "Let me look that up",
      "HI THERE",
      "The answer is HI THERE",
    ]);
    expect(textsIn("messages/partial").slice(0, 3)).toEqual(["Let ", "Let me ", "Let me look "]);
    const [complete] = dataOf(events, "messages/complete");
    expect(complete).toEqual([{ ...question, additional_kwargs: {}, response_metadata: {} }]);
    const [metadata] = dataOf(events, "messages/metadata") as Record<string, object>[];
    expect(Object.values(metadata ?? {})).toMatchObject([
      { metadata: { langgraph_node: "agent" } },
    ]);
  });
});

describe("subgraphs", () => {
  test("are streamed under their namespace, on request", async ({ client, expect }) => {
    const payload = { input: {}, streamMode: "updates" } as const;
    const shallow = await eventsOf(client, "nested", payload);
    expect(shallow.map(([name]) => name)).toEqual(["updates", "updates", "updates"]);
    const deep = await eventsOf(client, "nested", { ...payload, streamSubgraphs: true });
    const names = deep.map(([name]) => String(name).replaceAll(/[0-9a-f-]{36}/g, "<task>"));
    expect(names).toEqual([
      "updates",
      "updates|child:<task>",
      "updates|child:<task>|grandchild:<task>",
      "updates|child:<task>",
      "updates",
      "updates",
    ]);
    expect(deep[2]?.[1]).toEqual({
      confirm_step: { approval: "not asked", inner: "grandchild", trail: ["grandchild"] },
    });
    const ids = new Set(deep.flatMap(([name]) => String(name).match(/child:[0-9a-f-]{36}/) ?? []));
    expect(ids.size).toBe(1);
  });

  test("have values with the checkpoint that they belong to, as the root has", async ({
    client,
    expect,
  }) => {
    const payload = { input: {}, streamMode: "values", streamSubgraphs: true } as const;
    const events = await eventsOf(client, "nested", payload);
    const named = events.map(([name, data]) => [String(name).split("|"), data] as const);
    for (const [index, [name]] of named.entries()) {
      if (name[0] !== "values") continue;
      expect(named[index - 1]?.[0]).toEqual(["checkpoints", ...name.slice(1)]);
    }
    const pointers = named.filter(([[mode]]) => mode === "checkpoints");
    expect(pointers.length).toBe(named.length / 2);
    for (const [, pointer] of pointers) {
      expect(pointer).toMatchObject({ id: expect.stringMatching(UUID), step: expect.any(Number) });
    }
    const plain = await eventsOf(client, "nested", { input: {}, streamMode: "values" });
    expect(plain.filter(([name]) => name !== "values")).toEqual([]);
  });

  test.for(["values", "tasks", "checkpoints", "debug", "custom"] as const)(
    "keep the root's modes apart from theirs: %s",
    async (streamMode, { client, expect }) => {
      const thread_id = await newThread(client);
      const stream = client.runs.stream(thread_id, "nested", {
        input: {},
        streamMode,
        streamSubgraphs: true,
      });
      const deep = namesOf(await collect(stream)).filter((name) => name === streamMode);
      const shallow = await eventsOf(client, "nested", { input: {}, streamMode });
      expect(deep).toEqual(shallow.map(([name]) => name));
    },
  );
});
