import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, assert, test, vi } from "vitest";
import { runnableConfig } from "../../../src/graph-runtime/run-config.ts";
import { PassingCheckpointer } from "../../../src/graph-runtime/passing-checkpointer.ts";
import { traceRun } from "../../../src/graph-runtime/run-tracer.ts";
import { specOf, STARTED_AT } from "./support/traced-run.ts";

const graph = new StateGraph(Annotation.Root({ text: Annotation<string> }))
  .addNode("echo", ({ text }) => ({ text: `${text}!` }))
  .addEdge(START, "echo")
  .compile();

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

const OURS = { started_at: STARTED_AT, metadata: { deployment_id: "deployment-1" } };

test.for([
  { of: "a run", trace: OURS },
  { of: "a run that the platform does not trace", trace: null },
])(
  "$of does not wait for the project's own destination of traces, but its isolate does",
  async ({ trace: spec }, { expect }) => {
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
    const run_id = crypto.randomUUID();
    const run = specOf({ run_id, input: { text: "hello" }, trace: spec });
    const batches: string[] = [];
    const trace = traceRun(run, { trace: async ({ json }) => void batches.push(json) });
    assert(trace !== null);
    const config = runnableConfig(run, new PassingCheckpointer());

    const answer = await graph.invoke({ text: "hello" }, { ...config, callbacks: [trace.tracer] });
    expect(answer).toEqual({ text: "hello!" });

    let isClosed = false;
    const closed = trace.close().then(() => {
      isClosed = true;
    });
    if (spec !== null) await vi.waitUntil(() => batches.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([isClosed, batches.length]).toEqual([false, spec === null ? 0 : 1]);
    reachable.resolve();
    await closed;
    expect(sent.join("\n")).toContain(`"id":"${run_id}"`);
  },
);
