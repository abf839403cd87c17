import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, assert, expect, test, vi } from "vitest";
import { runnableConfig } from "../../../src/graph-runtime/run-config.ts";
import { PassingCheckpointer } from "../../../src/graph-runtime/passing-checkpointer.ts";
import { traceRun } from "../../../src/graph-runtime/run-tracer.ts";
import { RUN_ID, specOf } from "./support/traced-run.ts";

const graph = new StateGraph(Annotation.Root({ text: Annotation<string> }))
  .addNode("echo", ({ text }) => ({ text: `${text}!` }))
  .addEdge(START, "echo")
  .compile();

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

test("a run does not wait for the project's own destination of traces, but its isolate does", async () => {
  vi.stubEnv("LANGSMITH_TRACING", "true");
  vi.stubEnv("LANGSMITH_API_KEY", "key");
  vi.stubEnv("LANGSMITH_ENDPOINT", "https://langsmith.test");
  const reachable = Promise.withResolvers<void>();
  const sent: string[] = [];
  vi.stubGlobal("fetch", async (_url: string, init?: { body?: unknown }) => {
    await reachable.promise;
    if (init?.body !== undefined) sent.push(await new Response(init.body as string).text());
    return Response.json({});
  });
  const batches: string[] = [];
  const spec = specOf({ input: { text: "hello" } });
  const trace = traceRun(spec, { trace: async ({ json }) => void batches.push(json) });
  assert(trace !== null);
  const config = runnableConfig(spec, new PassingCheckpointer());

  expect(await graph.invoke({ text: "hello" }, { ...config, callbacks: [trace.tracer] })).toEqual({
    text: "hello!",
  });

  let isClosed = false;
  const closed = trace.close().then(() => {
    isClosed = true;
  });
  await vi.waitUntil(() => batches.length > 0);
  expect(isClosed).toBe(false);
  reachable.resolve();
  await closed;
  expect(sent.join("\n")).toContain(`"id":"${RUN_ID}"`);
});
