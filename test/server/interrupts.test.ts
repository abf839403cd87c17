import { describe } from "vitest";
import { human, textsOf } from "../support/messages.ts";
import { collect, dataOf } from "../support/run-events.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { newThread } from "../support/new-thread.ts";

const test = testInWorkspace();

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

describe("an interrupt", () => {
  test("stops the run, which an answer resumes", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const wait = (payload: object) => client.runs.wait(thread_id, "interrupts", payload);
    const first = { id: expect.stringMatching(INTERRUPT_ID), value: { question: "first" } };
    expect(await wait({ input: {} })).toEqual({ __interrupt__: [first] });
    const [run] = await client.runs.list(thread_id);
    expect(run?.status).toBe("success");
    const second = { ...first, value: { question: "second", first: "A" } };
    expect(await wait({ command: { resume: "A" } })).toEqual({ __interrupt__: [second] });
    expect(await wait({ command: { resume: { deep: ["B"] } } })).toEqual({
      mode: "twice",
      answers: { first: "A", second: { deep: ["B"] } },
      finished: true,
    });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle", interrupts: {} });
  });

  test("is part of the stream", async ({ client, expect }) => {
    const stream = client.runs.stream(await newThread(client), "interrupts", {
      input: {},
      streamMode: ["values", "updates"],
    });
    const events = await collect(stream);
    const shown = {
      __interrupt__: [{ id: expect.stringMatching(INTERRUPT_ID), value: { question: "first" } }],
    };
    expect(dataOf(events, "updates")).toEqual([shown]);
    expect(dataOf(events, "values").at(-1)).toEqual(shown);
  });

  test("is part of the thread and its state", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "interrupts", { input: {} });
    const state = await client.threads.getState(thread_id);
    const [task] = state.tasks;
    const interrupts = [{ id: expect.stringMatching(INTERRUPT_ID), value: { question: "first" } }];
    expect([state.next, task?.name, task?.interrupts]).toEqual([["ask"], "ask", interrupts]);
    expect(state).not.toHaveProperty("interrupts");
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "interrupted",
      values: { mode: "twice", answers: {} },
      interrupts: { [task?.id ?? ""]: interrupts },
    });
  });

  test("is the same for clients that join late", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await client.runs.create(thread_id, "interrupts", { input: {} });
    const early = await client.runs.join(thread_id, run_id);
    expect(early).toMatchObject({ __interrupt__: [{ value: { question: "first" } }] });
    await client.runs.wait(thread_id, "interrupts", { command: { resume: "A" } });
    expect(await client.runs.join(thread_id, run_id)).toEqual(early);
  });

  test("stops the thread again after another one in the same node", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "interrupts", { input: {} });
    const told = await client.runs.wait(thread_id, "interrupts", { command: { resume: "A" } });
    const question = { question: "second", first: "A" };
    expect(told).toMatchObject({ __interrupt__: [{ value: question }] });
    const thread = await client.threads.get(thread_id);
    expect(thread.status).toBe("interrupted");
    expect(Object.values(thread.interrupts)).toMatchObject([[{ value: question }]]);
    const [run] = await client.runs.list(thread_id);
    expect(await client.runs.join(thread_id, run?.run_id ?? "")).toEqual(told);
  });

  test("is answered by its id if there are several", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "interrupts", { input: { mode: "parallel" } });
    const { tasks } = await client.threads.getState(thread_id);
    expect(tasks.map(({ name }) => name).toSorted()).toEqual(["ask_left", "ask_right"]);
    const resume = Object.fromEntries(
      tasks.map(({ name, interrupts }) => [interrupts[0]?.id, `answer of ${name}`]),
    );
    const left = tasks.find(({ name }) => name === "ask_left")?.interrupts[0]?.id ?? "";
    const one = { command: { resume: { [left]: resume[left] } } };
    await client.runs.wait(thread_id, "interrupts", one);
    expect(await client.runs.wait(thread_id, "interrupts", { command: { resume } })).toEqual({
      mode: "parallel",
      answers: { left: "answer of ask_left", right: "answer of ask_right" },
      finished: true,
    });
  });

  test("is resumed from the thread, also in a subgraph's subgraph", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "nested", { input: { confirm: true } });
    const { interrupts, status } = await client.threads.get(thread_id);
    expect(status).toBe("interrupted");
    expect(Object.values(interrupts).flat()).toEqual([
      { id: expect.stringMatching(INTERRUPT_ID), value: { question: "go on?" } },
    ]);
    const values = await client.runs.wait(thread_id, "nested", { command: { resume: "yes" } });
    expect(values).toMatchObject({
      approval: "yes",
      trail: ["before", "grandchild", "after: yes"],
    });
  });
});

describe("a command", () => {
  test("updates the state while it resumes", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "interrupts", { input: {} });
    const wait = (command: object) => client.runs.wait(thread_id, "interrupts", { command });
    await wait({ resume: 1 });
    const answers = { from: "update" };
    expect(await wait({ resume: 2, update: { answers } })).toMatchObject({
      answers: { from: "update", first: 1, second: 2 },
      finished: true,
    });
    const pairs = { goto: "finish", update: [["answers", { pairs: true }]] };
    expect(await wait(pairs)).toMatchObject({ answers: { pairs: true, first: 1 } });
  });

  test("can go to a node", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const command = { goto: "third", update: { trail: ["sent"] } };
    expect(await client.runs.wait(thread_id, "branching", { command })).toEqual({
      counter: 1,
      trail: ["sent", "third"],
    });
  });

  test("can send separate inputs to nodes", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const goto = [
      { node: "work", input: { item: "a" } },
      { node: "work", input: { item: "b" } },
    ];
    const { trail } = (await client.runs.wait(thread_id, "command_goto", {
      command: { goto },
    })) as { trail: string[] };
    expect(trail.toSorted()).toEqual(["collect after 2", "work a", "work b"]);
  });

  test("fails the run if its node does not exist", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    for (const goto of ["nope", { node: "nope", input: {} }]) {
      const command = { goto };
      const wait = client.runs.wait(thread_id, "branching", { command });
      await expect(wait).rejects.toThrow("nope");
    }
    expect((await client.threads.get(thread_id)).status).toBe("error");
  });

  test("is followed within a graph", async ({ client, expect }) => {
    const run = async (items: string[]) => {
      const values = await client.runs.wait(null, "command_goto", { input: { items } });
      return (values as { trail: string[] }).trail;
    };
    expect(await run([])).toEqual(["decide", "collect after 1"]);
    expect(await run(["x", "y"])).toEqual(["decide", "work x", "work y", "collect after 3"]);
  });
});

describe("a breakpoint", () => {
  test("stops before or after a node, and the next run continues", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const wait = (payload: object) => client.runs.wait(thread_id, "branching", payload);
    const next = async () => (await client.threads.getState(thread_id)).next;
    expect(await wait({ input: {}, interruptBefore: ["second"] })).toEqual({ __interrupt__: [] });
    expect(await next()).toEqual(["second"]);
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "interrupted",
      values: { counter: 1, trail: ["first"] },
      interrupts: {},
    });
    expect(await wait({ input: null, interruptAfter: ["second"] })).toEqual({ __interrupt__: [] });
    expect(await next()).toEqual(["third"]);
    expect(await wait({ input: null })).toEqual({
      counter: 3,
      trail: ["first", "second", "third"],
    });
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  test("can be set at every node", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const stops: string[][] = [];
    for (const input of [{}, null, null, null]) {
      await client.runs.wait(thread_id, "branching", { input, interruptBefore: "*" });
      stops.push((await client.threads.getState(thread_id)).next);
    }
    expect(stops).toEqual([["first"], ["second"], ["third"], []]);
  });

  test("ends the stream with an empty interrupt", async ({ client, expect }) => {
    const stream = client.runs.stream(await newThread(client), "branching", {
      input: {},
      interruptBefore: ["second"],
      streamMode: ["values", "updates"],
    });
    const events = await collect(stream);
    expect(events.slice(1).map(({ event, data }) => [event, data])).toEqual([
      ["updates", { first: { counter: 1, trail: ["first"] } }],
      ["values", { counter: 1, trail: ["first"] }],
      ["updates", { __interrupt__: [] }],
      ["values", { __interrupt__: [] }],
    ]);
  });

  test("stops the whole run, also when it is compiled into a subgraph", async ({
    client,
    expect,
  }) => {
    const thread_id = await newThread(client);
    const input = { messages: [human("What is the weather in Lisbon?")] };
    await client.runs.wait(thread_id, "weather", { input });
    const state = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    expect(state.next).toEqual(["weather_graph"]);
    expect(state.tasks[0]?.state).toMatchObject({
      next: ["tell_weather"],
      values: { city: "Lisbon" },
    });
    expect((await client.threads.get(thread_id)).status).toBe("interrupted");
    const values = await client.runs.wait(thread_id, "weather", { input: null });
    expect(textsOf((values as { messages: unknown }).messages)).toEqual([
      "What is the weather in Lisbon?",
      "It is sunny in Lisbon!",
    ]);
  });

  test("is passed in a subgraph after its state was edited", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const input = { messages: [human("What is the weather in Lisbon?")] };
    await client.runs.wait(thread_id, "weather", { input });
    const state = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    const checkpoint = state.tasks[0]?.state?.checkpoint;
    if (checkpoint === undefined) throw new Error("The subgraph has no checkpoint");
    await client.threads.updateState(thread_id, { values: { city: "Porto" }, checkpoint });
    const values = await client.runs.wait(thread_id, "weather", { input: null });
    expect(textsOf((values as { messages: unknown }).messages).at(-1)).toBe(
      "It is sunny in Porto!",
    );
  });
});
