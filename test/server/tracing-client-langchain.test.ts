import { RunCollectorCallbackHandler } from "@langchain/core/tracers/run_collector";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { FakeChatModel } from "@langchain/core/utils/testing";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Run } from "langsmith";
import { getLangchainCallbacks } from "langsmith/langchain";
import { traceable } from "langsmith/traceable";
import { describe } from "vitest";
import { z } from "zod";
import { graph as agent } from "../fixtures/graphs/agent.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracesOf, tracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer();

/** A model that says hello, with the number of tokens that it took. */
class CountingModel extends FakeChatModel {
  override _generate(): Promise<ChatResult> {
    const usage_metadata = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
    const message = Object.assign(new AIMessage("hello"), { usage_metadata });
    return Promise.resolve({ generations: [{ text: "hello", message }] });
  }
}

/** The members of a run that LangChain reports, and that are returned unchanged. */
type Told = Pick<
  Run,
  "id" | "name" | "run_type" | "parent_run_id" | "tags" | "error" | "inputs" | "outputs"
> & { metadata: unknown; events: string[]; child_runs: Told[] };

/** Converts undefined members and classes to their JSON form. */
function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function told(run: Run, isRoot = true): Told {
  const { id, name, run_type, parent_run_id, tags, error, inputs, outputs, extra, events } = run;
  const children = run.child_runs ?? [];
  return asJson({
    id,
    name,
    run_type,
    parent_run_id: isRoot ? undefined : parent_run_id,
    tags: tags ?? [],
    error: error ?? undefined,
    inputs,
    outputs: outputs ?? undefined,
    metadata: (extra?.["metadata"] ?? {}) as unknown,
    // The names are compared, as each tracer has its own clock.
    events: (events ?? []).map((event) => String(event["name"])),
    child_runs: children
      .map((child) => told(child, false))
      .toSorted((left, right) => (left.id < right.id ? -1 : 1)),
  }) as Told;
}

/** Removes metadata that the client adds when it sends. */
function withoutMore(stored: Told, reported: Told): Told {
  const names = Object.keys(Object(reported.metadata));
  const metadata = Object.entries(Object(stored.metadata)).filter(([name]) => names.includes(name));
  return {
    ...stored,
    metadata: Object.fromEntries(metadata),
    child_runs: stored.child_runs.map((child, index) => {
      const twin = reported.child_runs[index];
      return twin === undefined ? child : withoutMore(child, twin);
    }),
  };
}

describe("LangChain's tracer records", () => {
  test("a streamed graph as LangChain reports it", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "graph");
    const tracer = new LangChainTracer({ client, projectName: "graph" });
    const collector = new RunCollectorCallbackHandler();
    const chunks = await agent.stream(
      { messages: [new HumanMessage("where is the tea?")] },
      {
        callbacks: [tracer, collector],
        configurable: { thread_id: "thread 1" },
        tags: ["from a test"],
        metadata: { customer: "acme" },
        streamMode: ["messages", "updates"],
      },
    );
    expect((await collect(chunks)).length).toBeGreaterThan(5);

    const [tree, ...others] = await tracesOf(client, "graph");
    if (tree === undefined) throw new Error("There is no trace");
    expect(others).toEqual([]);
    const reported = collector.tracedRuns.map((run) => told(run));
    const stored = told(tree);
    expect(reported).toHaveLength(1);
    expect(withoutMore(stored, reported[0] ?? stored)).toEqual(reported[0]);
    expect(tree).toMatchObject({ name: "LangGraph", status: "success" });
    expect(stored.metadata).toMatchObject({ customer: "acme", thread_id: "thread 1" });

    const models = await collect(client.listRuns({ projectName: "graph", runType: "llm" }));
    expect(models.map(({ name }) => name)).toEqual(["ScriptChatModel", "ScriptChatModel"]);
    for (const model of models) {
      const first = model.events?.find((event) => event["name"] === "new_token");
      const { first_token_time } = model as { first_token_time?: unknown };
      expect(Date.parse(String(first_token_time))).toBe(Date.parse(String(first?.["time"])));
    }
    const all = await collect(client.listRuns({ projectName: "graph" }));
    expect(all.every(({ status, trace_id }) => status === "success" && trace_id === tree.id)).toBe(
      true,
    );
    const thread = client.readThread({ threadId: "thread 1", projectName: "graph" });
    expect((await collect(thread)).map(({ id }) => id)).toEqual([tree.id]);
    const tagged = client.listRuns({ projectName: "graph", filter: 'has(tags, "from a test")' });
    expect((await collect(tagged)).length).toBeGreaterThan(5);
  });

  test("errors where they were thrown, and tokens where they were used", async ({
    server,
    expect,
  }) => {
    const { client } = await tracingWorkspace(server, "errors");
    const tracer = new LangChainTracer({ client, projectName: "errors" });
    const collector = new RunCollectorCallbackHandler();
    const model = new CountingModel({});
    const search = tool(
      ({ query }: { query: string }) => {
        throw new RangeError(`nothing about ${query}`);
      },
      { name: "search", description: "Finds nothing", schema: z.object({ query: z.string() }) },
    );
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode("tools", async () => {
        await search.invoke({ query: "tea" });
        return {};
      })
      .addEdge(START, "model")
      .addEdge("model", "tools")
      .compile();
    const input = { messages: [new HumanMessage("hi")] };
    await expect(graph.invoke(input, { callbacks: [tracer, collector] })).rejects.toThrow("tea");
    const [tree] = await tracesOf(client, "errors");
    if (tree === undefined) throw new Error("There is no trace");
    const [reported] = collector.tracedRuns.map((run) => told(run));
    const stored = told(tree);
    expect(withoutMore(stored, reported ?? stored)).toEqual(reported);
    const runs = await collect(client.listRuns({ projectName: "errors", order: "asc" }));
    const byName = new Map(runs.map((run) => [run.name, run]));
    const status = (name: string) => byName.get(name)?.status;
    expect(["LangGraph", "model", "CountingModel", "tools", "search"].map(status)).toEqual([
      "error",
      "success",
      "success",
      "error",
      "error",
    ]);
    expect(byName.get("search")).toMatchObject({ run_type: "tool" });
    expect(byName.get("search")?.error).toContain("RangeError: nothing about tea");
    for (const name of ["CountingModel", "model", "LangGraph"]) {
      expect(byName.get(name)).toMatchObject({
        prompt_tokens: 7,
        completion_tokens: 3,
        total_tokens: 10,
      });
    }
  });

  test("hundreds of runs of one trace", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "large trace");
    const tracer = new LangChainTracer({ client, projectName: "large trace" });
    const double = RunnableLambda.from((n: number) => 2 * n).withConfig({ runName: "double" });
    const all = RunnableLambda.from(async (count: number) => {
      const numbers = Array.from({ length: count }, (_, index) => index);
      return (await double.batch(numbers)).length;
    });
    await all.invoke(260, { callbacks: [tracer], runName: "all" });
    const [tree] = await tracesOf(client, "large trace");
    const children = tree?.child_runs ?? [];
    const outputs = children.map(({ outputs }) => Number(outputs?.["output"]));
    expect(outputs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 260 }, (_, i) => 2 * i));
    const traced = await collect(client.listRuns({ traceId: tree?.id ?? "" }));
    expect(new Set(traced.map(({ id }) => id)).size).toBe(261);
  });
});

describe("LangChain and functions of the client", () => {
  test("record one tree, whichever calls the other", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "mixed");
    const project_name = "mixed";
    const inner = traceable((n: number) => n + 1, { name: "inner function" });
    const chain = RunnableLambda.from(async (n: number) => inner(n)).withConfig({
      runName: "chain",
    });
    const outer = traceable(
      async (n: number) => {
        const callbacks = await getLangchainCallbacks();
        return chain.invoke(n, callbacks === undefined ? {} : { callbacks });
      },
      { name: "outer function", client, project_name, tracingEnabled: true },
    );
    expect(await outer(1)).toBe(2);
    const [tree, ...others] = await tracesOf(client, project_name);
    expect(others).toEqual([]);
    const names: string[] = [];
    for (let run = tree; run !== undefined; run = run.child_runs?.[0]) names.push(run.name);
    expect(names).toEqual(["outer function", "chain", "inner function"]);
    expect(tree).toMatchObject({ inputs: { input: 1 }, outputs: { outputs: 2 } });
  });
});
