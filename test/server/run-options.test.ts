import type { Client, ServerRuntime } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { collect } from "../support/run-events.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { MISSING_ID, UUID } from "../support/uuid.ts";
import { newThread } from "../support/new-thread.ts";

const test = testInWorkspace();

const ALL_STEPS = { counter: 3, trail: ["first", "second", "third"] };

type Seen = { seen: Record<string, Record<string, unknown>> };

describe("the input and config of a run", () => {
  test("reach the graph", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create({ metadata: { owner: "me" } });
    const values = await client.runs.wait(thread_id, "configurable", {
      input: {},
      config: { tags: ["a"], recursion_limit: 7, configurable: { model: "m", n: { deep: 1 } } },
      context: { temperature: 1 },
      metadata: { purpose: "test" },
    });
    const [run] = await client.runs.list(thread_id);
    const { seen } = values as Seen;
    const ids = {
      run_id: run?.run_id,
      thread_id,
      graph_id: "configurable",
      assistant_id: run?.assistant_id,
    };
    expect(seen).toMatchObject({
      configurable: { ...ids, model: "m", n: { deep: 1 } },
      context: { temperature: 1 },
      metadata: { ...ids, owner: "me", purpose: "test", created_by: "system", run_attempt: 1 },
      tags: ["a"],
      recursion_limit: 7,
      has_store: true,
      has_signal: true,
      server: { assistantId: run?.assistant_id, graphId: "configurable" },
    });
  });

  test("set its name, and limit its concurrency", async ({ client, expect }) => {
    const stream = client.runs.stream(await newThread(client), "configurable", {
      input: {},
      // The SDK's type lacks some members of LangChain's own.
      config: { run_name: "nightly", max_concurrency: 3 } as object,
      streamMode: ["events", "values"],
    });
    const events = await collect(stream);
    const started = events.find(({ event }) => event === "events")?.data;
    expect(started).toMatchObject({ event: "on_chain_start", name: "nightly" });
    const values = events.findLast(({ event }) => event === "values")?.data;
    expect(values).toMatchObject({ seen: { max_concurrency: 3 } });
  });

  test("override those of the assistant", async ({ client, expect }) => {
    const { assistant_id } = await client.assistants.create({
      graphId: "configurable",
      config: {
        tags: ["own"],
        recursion_limit: 9,
        max_concurrency: 4,
        configurable: { a: "own", b: "own" },
      } as object,
      context: { model: "own", temperature: 0 },
      metadata: { a: "own", b: "own" },
    });
    const run = async (payload: NonNullable<Parameters<Client["runs"]["wait"]>[2]>) => {
      const values = await client.runs.wait(null, assistant_id, { input: {}, ...payload });
      return (values as Seen).seen;
    };
    expect(await run({})).toMatchObject({
      configurable: { a: "own", b: "own", assistant_id },
      context: { model: "own", temperature: 0 },
      metadata: { a: "own", b: "own" },
      tags: ["own"],
      recursion_limit: 9,
      max_concurrency: 4,
    });
    const laidOver = await run({
      config: { configurable: { b: "run" }, tags: ["run"] },
      context: { temperature: 2 },
      metadata: { b: "run" },
    });
    expect(laidOver).toMatchObject({
      configurable: { a: "own", b: "run" },
      context: { model: "own", temperature: 2 },
      metadata: { a: "own", b: "run" },
      tags: ["run"],
      recursion_limit: 9,
    });
  });

  test("cannot set values that are reserved for the server", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const values = await client.runs.wait(thread_id, "configurable", {
      input: {},
      config: {
        configurable: {
          langgraph_auth_user: { identity: "admin" },
          langgraph_auth_user_id: "admin",
          langgraph_auth_permissions: ["all"],
          __pregel_checkpointer: "mine",
          __anything: 1,
          run_id: "mine",
          thread_id: MISSING_ID,
          graph_id: "mine",
          assistant_id: "mine",
          kept: true,
        },
      },
    });
    const { configurable = {} } = (values as Seen).seen;
    const { checkpoint_map: _map, checkpoint_ns: _ns, ...rest } = configurable;
    const [run] = await client.runs.list(thread_id);
    const expected = {
      kept: true,
      run_id: run?.run_id,
      thread_id,
      graph_id: "configurable",
      assistant_id: run?.assistant_id,
    };
    expect(rest).toEqual(expected);
    expect(run).toMatchObject({ kwargs: { config: { configurable: expected } } });
    const { metadata } = await client.threads.getState(thread_id);
    expect(Object.keys(metadata ?? {}).filter((key) => key.startsWith("lang"))).toEqual([]);
    expect((await client.threads.get(thread_id)).config?.configurable).toEqual(expected);
  });

  test("do not apply to later runs of the thread", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const wait = async (configurable: Record<string, unknown>) =>
      (await client.runs.wait(thread_id, "configurable", {
        input: {},
        config: { configurable },
      })) as Seen;
    await wait({ once: true });
    const { seen } = await wait({ twice: true });
    expect(seen["configurable"]).toMatchObject({ twice: true });
    expect(seen["configurable"]).not.toHaveProperty("once");
  });

  test("name the graph that runs, not the one that ran before", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "env_reader", { input: {} });
    const run = await client.runs.create(thread_id, "configurable", { input: {} });
    const values = await client.runs.join(thread_id, run.run_id);
    const graph = { graph_id: "configurable", assistant_id: run.assistant_id };
    expect((values as Seen).seen["metadata"]).toMatchObject(graph);
    expect(run.metadata).not.toMatchObject({ graph_id: "env_reader" });
    expect((await client.threads.get(thread_id)).metadata).toMatchObject(graph);
  });

  test("are passed to a graph factory, for the state of the graph as well", async ({
    client,
    expect,
  }) => {
    const thread_id = await newThread(client);
    const values = await client.runs.wait(thread_id, "factory", {
      input: {},
      config: { configurable: { flavour: "mint" } },
      interruptBefore: ["serve_mint"],
    });
    expect(values).toEqual({ __interrupt__: [] });
    expect((await client.threads.getState(thread_id)).next).toEqual(["serve_mint"]);
  });

  test("tell a factory the purpose of its graph, and the context only for a run", async ({
    client,
    expect,
  }) => {
    const thread_id = await newThread(client);
    const configurable = { watched: thread_id };
    const { assistant_id } = await client.assistants.create({
      graphId: "factory",
      config: { configurable },
    });
    const told = async () => {
      const context = { tone: "polite" };
      const options = { input: {}, config: { configurable }, context };
      const values = await client.runs.wait(thread_id, "factory", options);
      return JSON.parse((values as { served: string }).served) as ServerRuntime[];
    };
    const [first] = await told();
    expect(first).toEqual({
      accessContext: "threads.create_run",
      executionRuntime: { context: { tone: "polite" } },
    });
    await client.threads.getState(thread_id);
    await client.threads.getHistory(thread_id);
    await client.threads.updateState(thread_id, { values: { flavour: "lemon" } });
    await client.assistants.getGraph(assistant_id);
    await client.assistants.getSchemas(assistant_id);
    await client.assistants.getSubgraphs(assistant_id);
    const others = (await told()).filter(({ executionRuntime }) => executionRuntime === null);
    expect(others.map(({ accessContext }) => accessContext)).toEqual([
      "threads.read",
      "threads.read",
      "threads.update",
      "assistants.read",
      "assistants.read",
      "assistants.read",
    ]);
  });

  test("include the environment of the project and no other, also while a module loads", async ({
    client,
    expect,
  }) => {
    expect(await client.runs.wait(null, "env_reader", { input: {} })).toEqual({
      at_load: "from the test server",
      at_run: "from the test server",
      // The project asks for "true", with which LangChain would lose chunks and traces.
      background: "false",
      names: ["FIXTURE_VALUE", "LANGCHAIN_CALLBACKS_BACKGROUND"],
    });
  });

  test.for(["builder", "promise"])(
    "run a graph that its module exports as a %s",
    async (graph, { client, expect }) => {
      expect(await client.runs.wait(null, graph, { input: { text: "hey" } })).toEqual({
        text: "hey!",
      });
    },
  );
});

describe("a run on a thread that does not exist", () => {
  test("is refused unless the thread may be created", async ({ client, server, expect }) => {
    const id = crypto.randomUUID();
    for (const suffix of ["", "/stream", "/wait"]) {
      const body = { assistant_id: "branching", input: {} };
      expect(await answerOf(send(server, "POST", `/threads/${id}/runs${suffix}`, body))).toEqual({
        status: 404,
        body: { detail: `Thread with ID ${id} not found` },
      });
    }
    await expect(client.threads.get(id)).rejects.toThrow("HTTP 404");
    const values = await client.runs.wait(id, "branching", {
      input: {},
      ifNotExists: "create",
      metadata: { purpose: "made" },
    });
    expect(values).toEqual(ALL_STEPS);
    expect(await client.threads.get(id)).toMatchObject({
      thread_id: id,
      status: "idle",
      metadata: {
        purpose: "made",
        graph_id: "branching",
        assistant_id: expect.stringMatching(UUID),
      },
    });
  });

  test("is refused for an assistant that does not exist", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    for (const path of [`/threads/${thread_id}/runs`, "/runs", "/runs/stream", "/runs/wait"]) {
      expect(await answerOf(send(server, "POST", path, { assistant_id: "nope" }))).toEqual({
        status: 404,
        body: {
          detail:
            'No assistant found for "nope". Make sure the assistant ID is for a valid assistant or a valid graph ID.',
        },
      });
    }
    expect(await client.runs.list(thread_id)).toEqual([]);
  });
});

describe("a stateless run", () => {
  test("is deleted with its thread when it ends", async ({ client, server, expect }) => {
    const body = { assistant_id: "branching", input: {} };
    const { headers, body: values } = await send(server, "POST", "/runs/wait", body);
    expect(values).toEqual(ALL_STEPS);
    const path = headers.get("content-location") ?? "";
    const [, id = ""] = /^\/runs\/([0-9a-f-]{36})$/.exec(path) ?? [];
    expect(headers.get("location")).toBe(`/runs/${id}/join`);
    await expect(client.threads.get(id)).rejects.toThrow("HTTP 404");
    expect(await client.threads.search({ ids: [id] })).toEqual([]);
  });

  test("is kept on request", async ({ client, server, expect }) => {
    const body = { assistant_id: "branching", input: {}, on_completion: "keep" };
    const { headers } = await send(server, "POST", "/runs/wait", body);
    const [, id = ""] =
      /^\/runs\/([0-9a-f-]{36})$/.exec(headers.get("content-location") ?? "") ?? [];
    expect(await client.threads.get(id)).toMatchObject({ status: "idle", values: ALL_STEPS });
    expect(await client.threads.getHistory(id)).toHaveLength(5);
    expect((await send(server, "GET", `/runs/${id}/join`)).body).toEqual(ALL_STEPS);
  });

  test("is followed by its id alone when it runs in the background", async ({
    client,
    server,
    expect,
  }) => {
    const run = await client.runs.create(null, "custom_stream", {
      input: { count: 3, delay_ms: 50 },
      streamMode: "values",
      streamResumable: true,
    });
    const joined = send(server, "GET", `/runs/${run.run_id}/join`);
    const events = await collect(client.runs.joinStream(null, run.run_id, { lastEventId: "-1" }));
    expect(events.map(({ event }) => event)).toEqual(["metadata", "values", "values"]);
    expect((await joined).body).toMatchObject({ written: 3 });
  });

  test("ends at an interrupt of its graph, and returns the interrupt", async ({
    client,
    expect,
  }) => {
    expect(await client.runs.wait(null, "interrupts", { input: {} })).toMatchObject({
      __interrupt__: [{ value: expect.anything() }],
    });
  });

  test("runs concurrently with others of its graph", async ({ client, expect }) => {
    const labels = Array.from({ length: 8 }, (_, index) => `run ${index}`);
    const waits = labels.map((label) =>
      client.runs.wait(null, "slow", { input: { label, steps: 2, delay_ms: 20 } }),
    );
    const results = (await Promise.all(waits)) as { messages: { content: string }[] }[];
    expect(results.map(({ messages }) => messages.map(({ content }) => content))).toEqual(
      labels.map((label) => [`${label} step 1`, `${label} step 2`]),
    );
  });
});

describe("after_seconds", () => {
  test("delays a run while later ones pass it", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const create = (label: string, afterSeconds?: number) =>
      client.runs.create(thread_id, "slow", {
        input: { label, steps: 1, delay_ms: 0 },
        ...(afterSeconds === undefined ? {} : { afterSeconds }),
      });
    // The delays are long in comparison to the time that a run takes on this machine.
    const begun = performance.now();
    await client.runs.join(thread_id, (await create("measured")).run_id);
    const tookSeconds = (performance.now() - begun) / 1000;
    const delaySeconds = 1 + 10 * tookSeconds;
    const before = Date.now();
    const later = await create("later", 2 * delaySeconds);
    const sooner = await create("sooner", delaySeconds);
    const now = await create("now");
    await client.runs.join(thread_id, now.run_id);
    expect((await client.runs.get(thread_id, later.run_id)).status).toBe("pending");
    expect(Date.parse(later.created_at) - before).toBeGreaterThanOrEqual(2000 * delaySeconds - 1);
    const { messages } = (await client.runs.join(thread_id, later.run_id)) as {
      messages?: { content: string }[];
    };
    expect(messages?.map(({ content }) => content)).toEqual([
      "measured step 1",
      "now step 1",
      "sooner step 1",
      "later step 1",
    ]);
    expect((await client.runs.get(thread_id, sooner.run_id)).status).toBe("success");
  });
});

describe("durability", () => {
  test.for([
    ["sync", 5],
    ["async", 5],
    ["exit", 1],
  ] as const)(
    "%s leaves %i checkpoints of a run",
    async ([durability, count], { client, expect }) => {
      const thread_id = await newThread(client);
      const values = await client.runs.wait(thread_id, "branching", { input: {}, durability });
      expect(values).toEqual(ALL_STEPS);
      expect(await client.threads.getHistory(thread_id)).toHaveLength(count);
      expect((await client.threads.getState(thread_id)).values).toEqual(ALL_STEPS);
    },
  );

  test("exit keeps the checkpoint of a run that stops at a breakpoint", async ({
    client,
    expect,
  }) => {
    const thread_id = await newThread(client);
    const options = { input: {}, durability: "exit", interruptBefore: ["second"] } as const;
    await client.runs.wait(thread_id, "branching", {
      ...options,
      interruptBefore: [...options.interruptBefore],
    });
    expect((await client.threads.getState(thread_id)).next).toEqual(["second"]);
    expect(await client.runs.wait(thread_id, "branching", { input: null })).toEqual(ALL_STEPS);
  });

  test("has an older name that still works", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "branching", { input: {}, checkpointDuring: false });
    expect(await client.threads.getHistory(thread_id)).toHaveLength(1);
  });
});

describe("a run from a checkpoint", () => {
  test("continues from there on a new branch", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "branching", { input: {} });
    const history = await client.threads.getHistory(thread_id);
    const afterFirst = history[2]?.checkpoint;
    const checkpointId = afterFirst?.checkpoint_id ?? "";
    const wait = (payload: object) =>
      client.runs.wait(thread_id, "branching", { input: null, ...payload });
    expect(await wait({ checkpointId })).toEqual(ALL_STEPS);
    const forked = await client.threads.getHistory(thread_id);
    expect(forked.map(({ metadata }) => metadata?.["source"])).toEqual([
      "loop",
      "loop",
      "fork",
      ...history.map(({ metadata }) => metadata?.["source"]),
    ]);
    expect(forked[2]?.parent_checkpoint?.checkpoint_id).toBe(checkpointId);
    const input = { trail: ["again"] };
    expect(await wait({ checkpoint: afterFirst, input })).toEqual({
      counter: 4,
      trail: ["first", "again", "first", "second", "third"],
    });
  });

  test("continues from the edited state", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await client.runs.wait(thread_id, "branching", { input: {} });
    const history = await client.threads.getHistory(thread_id);
    await client.threads.updateState(thread_id, {
      values: { trail: ["edited"] },
      checkpointId: history[2]?.checkpoint.checkpoint_id ?? "",
      asNode: "first",
    });
    expect(await client.runs.wait(thread_id, "branching", { input: null })).toEqual({
      counter: 3,
      trail: ["first", "edited", "second", "third"],
    });
  });
});

describe("input", () => {
  test.for([
    ["text", "InvalidUpdateError"],
    [[1], "InvalidUpdateError"],
    [null, "EmptyInputError"],
  ] as const)("%j ends the run with %s", async ([input, error], { client, server, expect }) => {
    const thread_id = await newThread(client);
    const body = { assistant_id: "branching", input };
    const answer = await send(server, "POST", `/threads/${thread_id}/runs/wait`, body);
    expect([answer.status, answer.body]).toEqual([
      200,
      { __error__: { error, message: expect.any(String) } },
    ]);
    const [run] = await client.runs.list(thread_id);
    expect(run?.status).toBe("error");
  });

  test("is validated by the graph's own schema", async ({ client, expect }) => {
    const wait = (question: string) =>
      client.runs.wait(null, "zod_state", { input: { question }, context: { tone: "polite" } });
    expect(await wait("two words")).toMatchObject({
      answer: "If you please: two words",
      words: 2,
    });
    await expect(wait("")).rejects.toThrow(/ZodError.*Too small/s);
  });
});
