import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import {
  Annotation,
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { traceable } from "langsmith/traceable";
import { afterEach, assert, describe, test, vi } from "vitest";
import { z } from "zod";
import type { Graph } from "../../../src/graph-runtime/graph-registry.ts";
import type { RunSpec, TraceBatch } from "../../../src/graph-runtime/protocol.ts";
import { rootRun } from "../../../src/graph-runtime/trace-json.ts";
import { PassingCheckpointer } from "../../../src/graph-runtime/passing-checkpointer.ts";
import { runnableConfig } from "../../../src/graph-runtime/run-config.ts";
import { traceRun } from "../../../src/graph-runtime/run-tracer.ts";
import { type RecordedRun, RUN_ID, runsOf, specOf, STARTED_AT } from "./support/traced-run.ts";

const search = tool(({ query }) => `found ${query}`, {
  name: "search",
  schema: z.object({ query: z.string() }),
});

const State = Annotation.Root({ text: Annotation<string>, answer: Annotation<string> });

const helper = new StateGraph(MessagesAnnotation)
  .addNode("chat", async ({ messages }) => {
    const model = new FakeListChatModel({ responses: ["Hi!"] });
    let text = "";
    for await (const chunk of await model.stream(messages)) text += chunk.text;
    return { messages: [{ role: "assistant", content: text }] };
  })
  .addNode("look_up", async () => ({
    messages: [{ role: "assistant", content: await search.invoke({ query: "cats" }) }],
  }))
  .addEdge(START, "chat")
  .addEdge("chat", "look_up")
  .compile({ name: "helper" });

/** Returns the traced runs of a graph's run, and how it ended. */
async function record(
  graph: unknown,
  over: Partial<RunSpec> = {},
  configurable: Record<string, unknown> = {},
): Promise<{ runs: RecordedRun[]; failure: unknown; batches: TraceBatch[] }> {
  const batches: TraceBatch[] = [];
  const spec = specOf(over);
  const trace = traceRun(spec, { trace: async (batch) => void batches.push(batch) });
  assert(trace !== null);
  const { checkpointer } = graph as Graph;
  const saver = checkpointer instanceof MemorySaver ? checkpointer : new PassingCheckpointer();
  const config = runnableConfig(spec, saver);
  const input = spec.resuming ? null : spec.input;
  let failure: unknown;
  try {
    await (graph as Graph).invoke(input, {
      ...config,
      configurable: { ...config.configurable, ...configurable },
      callbacks: [trace.tracer],
    });
  } catch (error) {
    failure = error;
  }
  await trace.close();
  return { runs: runsOf(batches), failure, batches };
}

type Node = string | [string, Node[]];

/** Returns nodes of the form `name (run type)`, with their children. */
function treeOf(runs: readonly RecordedRun[], parent?: string): Node[] {
  return runs
    .filter((run) => run.parent_run_id === parent)
    .map(({ id, name, run_type }) => {
      const children = treeOf(runs, id);
      const label = `${name} (${run_type})`;
      return children.length === 0 ? label : [label, children];
    });
}

function named(runs: readonly RecordedRun[], name: string): RecordedRun {
  const run = runs.find((candidate) => candidate.name === name);
  assert(run !== undefined, `no run is named ${name}`);
  return run;
}

/** What a tracer knows of the runs that have not ended. */
type Trees = LangChainTracer & { runTreeMap: Map<string, unknown> };

const hello = { input: { messages: [{ role: "user", content: "hello" }] } };

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

describe("a traced run", () => {
  test("is a tree of the steps of LangGraph, models and tools", async ({ expect }) => {
    const { runs } = await record(helper, hello);
    expect(treeOf(runs)).toEqual([
      [
        "helper (chain)",
        [
          "__start__ (chain)",
          ["chat (chain)", ["FakeListChatModel (llm)"]],
          ["look_up (chain)", ["search (tool)"]],
        ],
      ],
    ]);
  });

  test("has subgraphs below the node that runs them", async ({ expect }) => {
    const inner = new StateGraph(State)
      .addNode("leaf", () => ({ answer: "42" }))
      .addEdge(START, "leaf")
      .compile({ name: "inner" });
    const graph = new StateGraph(State)
      .addNode("nested", inner)
      .addEdge(START, "nested")
      .compile({ name: "outer" });
    const { runs } = await record(graph, { input: { text: "x" } });
    expect(treeOf(runs)).toEqual([
      [
        "outer (chain)",
        [
          "__start__ (chain)",
          ["nested (chain)", [["inner (chain)", ["__start__ (chain)", "leaf (chain)"]]]],
        ],
      ],
    ]);
    expect(new Set(runs.map(({ trace_id }) => trace_id))).toEqual(new Set([RUN_ID]));
    expect(named(runs, "leaf").extra.metadata["deployment_id"]).toBe("default");
  });

  test("has the run's id as its root, and dotted orders that match the parents", async ({
    expect,
  }) => {
    const { runs } = await record(helper, hello);
    const byId = new Map(runs.map((run) => [run.id, run]));
    const [root] = runs;
    expect(root).toMatchObject(rootRun(RUN_ID, STARTED_AT));
    expect(root?.dotted_order).toBe(`20260801T120000123001Z${RUN_ID}`);
    for (const run of runs) {
      const parent = byId.get(run.parent_run_id ?? "");
      const segments = run.dotted_order.split(".");
      expect(run.trace_id).toBe(RUN_ID);
      expect(segments.at(-1)?.slice(-36)).toBe(run.id);
      expect(segments.slice(0, -1).join(".")).toBe(parent?.dotted_order ?? "");
      expect(new Date(run.end_time ?? "").getTime()).toBeGreaterThanOrEqual(STARTED_AT);
    }
  });

  test("names its run, thread, assistant and deployment on every run", async ({ expect }) => {
    const { runs } = await record(helper, hello);
    for (const { extra, tags } of runs) {
      expect(extra.metadata).toMatchObject({
        run_id: RUN_ID,
        thread_id: "thread-1",
        assistant_id: "assistant-1",
        graph_id: "helper",
        deployment_id: "default",
        customer: "acme",
        run_attempt: 1,
      });
      expect(tags).toContain("from-client");
    }
    const { langgraph_node, langgraph_step } = named(runs, "FakeListChatModel").extra.metadata;
    expect({ langgraph_node, langgraph_step }).toEqual({
      langgraph_node: "chat",
      langgraph_step: 1,
    });
    expect(named(runs, "chat").tags).toEqual(["graph:step:1", "from-client"]);
  });

  test("has inputs and outputs as LangChain's tracer writes them", async ({ expect }) => {
    const { runs } = await record(helper, hello);
    expect(named(runs, "helper").inputs).toEqual(hello.input);
    const model = named(runs, "FakeListChatModel");
    expect(model.inputs).toMatchObject({
      messages: [[{ ...new HumanMessage("hello").toJSON(), kwargs: { content: "hello" } }]],
    });
    expect(model.outputs).toMatchObject({
      generations: [[{ text: "Hi!", message: { kwargs: { content: "Hi!" } } }]],
    });
    expect(named(runs, "search")).toMatchObject({
      inputs: { query: "cats" },
      outputs: { output: "found cats" },
    });
    expect(named(runs, "helper").outputs).toMatchObject({
      messages: ["hello", "Hi!", "found cats"].map((content) => ({ kwargs: { content } })),
    });
  });

  test("has the times of tokens, without the tokens", async ({ expect }) => {
    const { runs } = await record(helper, hello);
    const { events } = named(runs, "FakeListChatModel");
    expect(events.map(({ name }) => name)).toEqual([
      "start",
      "new_token",
      "new_token",
      "new_token",
      "end",
    ]);
    for (const event of events) expect(Object.keys(event)).toEqual(["name", "time"]);
  });

  test("is one batch of creates for a short run", async ({ expect }) => {
    const { batches, runs } = await record(helper, hello);
    const operations = batches.map(({ json }) => JSON.parse(json));
    expect(operations.map(({ post, patch }) => [post.length, patch.length])).toEqual([
      [runs.length, 0],
    ]);
    expect(batches[0]?.operations).toBe(runs.length);
  });

  test("shows where an error came from, up to the root", async ({ expect }) => {
    const graph = new StateGraph(State)
      .addNode("before", () => ({ text: "kept" }))
      .addNode("fails", () => {
        throw new TypeError("no such thing");
      })
      .addEdge(START, "before")
      .addEdge("before", "fails")
      .compile();
    const { runs, failure } = await record(graph, { input: { text: "x" } });
    expect(failure).toBeInstanceOf(TypeError);
    expect(runs.map(({ name, error }) => [name, error?.split("\n", 1)[0]])).toEqual([
      ["LangGraph", "no such thing"],
      ["__start__", undefined],
      ["before", undefined],
      ["fails", "no such thing"],
    ]);
    expect(named(runs, "fails").error).toContain("TypeError: no such thing\n    at ");
  });

  test("shows an interrupt on its node, and none on the root", async ({ expect }) => {
    const graph = new StateGraph(State)
      .addNode("ask", () => ({ answer: interrupt<unknown, string>({ question: "which?" }) }))
      .addEdge(START, "ask")
      .compile({ checkpointer: new MemorySaver() });
    const asked = await record(graph, { input: { text: "x" } });
    expect(asked.failure).toBeUndefined();
    expect(named(asked.runs, "ask").error).toContain("GraphInterrupt");
    expect(named(asked.runs, "LangGraph").error).toBeUndefined();
    expect(named(asked.runs, "LangGraph").end_time).toBeDefined();

    const resumed = await record(graph, { input: new Command({ resume: "this" }) });
    const root = named(resumed.runs, "LangGraph");
    expect(root.inputs).toMatchObject({ resume: "this" });
    expect(root.outputs).toEqual({ text: "x", answer: "this" });
    expect(named(resumed.runs, "ask").error).toBeUndefined();
  });

  test("continues the trace of the previous attempt, with its input and start", async ({
    expect,
  }) => {
    const graph = new StateGraph(State)
      .addNode("first", () => ({ answer: "one" }))
      .addEdge(START, "first")
      .compile({ checkpointer: new MemorySaver(), interruptBefore: ["first"] });
    const input = { text: "asked" };
    const before = await record(graph, { input });
    const after = await record(graph, { input, attempt: 2, resuming: true });
    const [one, two] = [before, after].map(({ runs }) => named(runs, "LangGraph"));
    const identity = (run?: RecordedRun) => [run?.id, run?.dotted_order, run?.start_time];
    expect(identity(two)).toEqual(identity(one));
    expect(two?.inputs).toEqual(input);
    expect(two?.outputs).toEqual({ text: "asked", answer: "one" });
    expect(named(after.runs, "first").extra.metadata["run_attempt"]).toBe(2);
  });

  test("includes traceable functions, and LangChain's steps inside them", async ({ expect }) => {
    const outer = traceable(async (query: string) => search.invoke({ query }), {
      name: "outer",
      run_type: "retriever",
    });
    const graph = new StateGraph(State)
      .addNode("node", async ({ text }) => ({ answer: await outer(text) }))
      .addEdge(START, "node")
      .compile();
    const { runs } = await record(graph, { input: { text: "dogs" } });
    expect(treeOf(runs)).toEqual([
      [
        "LangGraph (chain)",
        ["__start__ (chain)", ["node (chain)", [["outer (retriever)", ["search (tool)"]]]]],
      ],
    ]);
    expect(named(runs, "outer").outputs).toEqual({ outputs: "found dogs" });
    expect(named(runs, "outer").extra.metadata["thread_id"]).toBe("thread-1");
  });

  test("has the trees that LangChain's tracer makes for its writes", async ({ expect }) => {
    const pairs: [unknown, unknown][] = [];
    const graph = new StateGraph(State)
      .addNode("node", (_state, runtime) => {
        const { callbacks } = runtime as unknown as { callbacks: { handlers: Trees[] } };
        const [tracer] = callbacks.handlers;
        assert(tracer !== undefined);
        for (const id of [...tracer.runTreeMap.keys(), "unknown"]) {
          pairs.push([
            tracer.getRunTreeWithTracingConfig(id),
            LangChainTracer.prototype.getRunTreeWithTracingConfig.call(tracer, id),
          ]);
        }
        return { text: "1" };
      })
      .addEdge(START, "node")
      .compile();
    const { failure } = await record(graph, { input: { text: "x" } });
    expect(failure).toBeUndefined();
    expect(pairs.length).toBeGreaterThan(2);
    for (const [copied, made] of pairs) expect(copied).toStrictEqual(made);
  });

  test("keeps no values of ended runs", async ({ expect }) => {
    let children: unknown[] = [];
    const graph = new StateGraph(State)
      .addNode("one", () => ({ text: "1" }))
      .addNode("two", (_state, runtime) => {
        const { callbacks } = runtime as unknown as { callbacks: { handlers: unknown[] } };
        const [tracer] = callbacks.handlers;
        const { runTreeMap } = tracer as { runTreeMap: Map<string, { child_runs: unknown[] }> };
        children = [...runTreeMap.values()].flatMap(({ child_runs }) => child_runs);
        return { text: "2" };
      })
      .addEdge(START, "one")
      .addEdge("one", "two")
      .compile();
    const { failure } = await record(graph, { input: { text: "x" } });
    expect(failure).toBeUndefined();
    expect(children).toEqual([]);
  });

  test.for(["LANGSMITH", "LANGCHAIN"])(
    "contains no values that the project hides with variables of %s",
    async (prefix, { expect }) => {
      for (const what of ["INPUTS", "OUTPUTS", "METADATA"]) {
        vi.stubEnv(`${prefix}_HIDE_${what}`, "true");
      }
      const { runs } = await record(helper, hello);
      expect(runs.length).toBe(6);
      for (const { inputs, outputs, extra } of runs) {
        expect([inputs, outputs]).toEqual([{}, {}]);
        expect(extra.metadata).toEqual({
          run_id: RUN_ID,
          thread_id: "thread-1",
          assistant_id: "assistant-1",
          graph_id: "helper",
          deployment_id: expect.any(String),
          run_attempt: 1,
        });
      }
    },
  );

  test("is not created if tracing is off", ({ expect }) => {
    const trace = vi.fn<() => Promise<void>>();
    expect(traceRun(specOf({ trace: null }), { trace })).toBeNull();
  });
});

describe("a project's own tracing", () => {
  /** Records the requests to LangSmith's API, by path. */
  function stubLangSmith(): { url: string; body: string }[] {
    const requests: { url: string; body: string }[] = [];
    vi.stubGlobal("fetch", async (url: string, init?: { body?: unknown }) => {
      const { body } = init ?? {};
      const text = body === undefined ? "" : await new Response(body as string).text();
      requests.push({ url, body: text });
      return Response.json({});
    });
    return requests;
  }

  test("gets nothing from a traced run while it is off", async ({ expect }) => {
    const requests = stubLangSmith();
    const endpoint = { api_url: "https://elsewhere.test", api_key: "key", project_name: "other" };
    vi.stubEnv("LANGSMITH_RUNS_ENDPOINTS", JSON.stringify([endpoint]));
    const { runs } = await record(helper, hello);
    expect(runs.length).toBe(6);
    expect(runs[0]?.id).toBe(RUN_ID);
    expect(requests).toEqual([]);
  });

  test("gets the same runs in addition", async ({ expect }) => {
    const requests = stubLangSmith();
    vi.stubEnv("LANGSMITH_TRACING", "true");
    vi.stubEnv("LANGSMITH_API_KEY", "key");
    vi.stubEnv("LANGSMITH_ENDPOINT", "https://langsmith.test");
    const { runs } = await record(helper, hello);
    expect(runs.length).toBe(6);
    await vi.waitUntil(
      () => requests.some(({ body }) => body.includes(`"id":"${RUN_ID}"`)),
      150_000,
    );
    await vi.waitUntil(() => {
      const sent = requests.map(({ body }) => body).join("\n");
      return runs.every(({ id }) => sent.includes(`"id":"${id}"`));
    }, 60_000);
    // Clients of test files that ran before in this process may still send to their servers on loopback.
    const hosts = requests.map(({ url }) => new URL(url).hostname);
    expect(new Set(hosts.filter((host) => host !== "127.0.0.1"))).toEqual(
      new Set(["langsmith.test"]),
    );
  });

  test("gets them at every configured endpoint", async ({ expect }) => {
    const requests = stubLangSmith();
    vi.stubEnv("LANGSMITH_TRACING", "true");
    vi.stubEnv(
      "LANGSMITH_RUNS_ENDPOINTS",
      JSON.stringify({ "https://one.test": "key-1", "https://two.test": "key-2" }),
    );
    const { runs } = await record(helper, hello);
    expect(runs.length).toBe(6);
    const hostsWith = (id: string): Set<string> =>
      new Set(requests.filter(({ body }) => body.includes(id)).map(({ url }) => new URL(url).host));
    await vi.waitUntil(() => hostsWith(RUN_ID).size === 2, 60_000);
    expect(hostsWith(RUN_ID)).toEqual(new Set(["one.test", "two.test"]));
  });
});
