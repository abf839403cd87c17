import type { Client, Run } from "langsmith";
import { describe, type ExpectStatic, vi } from "vitest";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer();

const PROJECT = "default";

const hello = { input: { messages: [{ role: "user", content: "hello" }] } };

async function setUp(server: TestServer, name: string) {
  const { client: tracing, apiKey } = await tracingWorkspace(server, name);
  return { tracing, agents: server.client({ apiKey }), apiKey };
}

/** Returns the runs of a trace, once its root has ended. */
async function traceOf(tracing: Client, traceId: string): Promise<Run[]> {
  let runs: Run[] = [];
  await vi.waitUntil(
    async () => {
      if (!(await tracing.hasProject({ projectName: PROJECT }))) return false;
      runs = await collect(tracing.listRuns({ projectName: PROJECT, traceId, order: "asc" }));
      return runs.some(({ id, end_time }) => id === traceId && Boolean(end_time));
    },
    { timeout: 150_000, interval: 100 },
  );
  return runs.toSorted((a, b) => ((a.dotted_order ?? "") < (b.dotted_order ?? "") ? -1 : 1));
}

function expectTree(expect: ExpectStatic, runs: readonly Run[], tree: unknown): void {
  const nameOf = new Map(runs.map(({ id, name }) => [id, name]));
  expect(
    runs.map(({ name, run_type, status, parent_run_id }) => [
      nameOf.get(parent_run_id ?? "") ?? null,
      name,
      run_type,
      status,
    ]),
  ).toEqual(tree);
}

describe("a run of the agent server", () => {
  test("has a trace in the project of its deployment", async ({ server, expect }) => {
    const { agents, tracing } = await setUp(server, "trace");
    const thread = await agents.threads.create();
    const run = await agents.runs.create(thread.thread_id, "agent", {
      ...hello,
      metadata: { customer: "acme" },
    });
    const values = (await agents.runs.join(thread.thread_id, run.run_id)) as {
      messages: { content: string }[];
    };
    const runs = await traceOf(tracing, run.run_id);
    expectTree(expect, runs, [
      [null, "LangGraph", "chain", "success"],
      ["LangGraph", "__start__", "chain", "success"],
      ["LangGraph", "agent", "chain", "success"],
      ["agent", "ScriptChatModel", "llm", "success"],
      ["agent", "RunnableLambda", "chain", "success"],
      ["LangGraph", "tool", "chain", "success"],
      ["LangGraph", "agent", "chain", "success"],
      ["agent", "ScriptChatModel", "llm", "success"],
      ["agent", "RunnableLambda", "chain", "success"],
    ]);
    const [root] = runs;
    expect(root?.inputs).toEqual(hello.input);
    expect(root?.outputs).toMatchObject({
      messages: values.messages.map(({ content }) => ({ kwargs: { content } })),
    });
    for (const { extra } of runs) {
      expect(extra?.["metadata"]).toMatchObject({
        run_id: run.run_id,
        thread_id: thread.thread_id,
        assistant_id: run.assistant_id,
        graph_id: "agent",
        deployment_id: "default",
        customer: "acme",
      });
    }
  });

  test("is recorded when its client disconnects before its end", async ({ server, expect }) => {
    const { agents, tracing } = await setUp(server, "disconnect");
    const thread = await agents.threads.create();
    const input = { steps: 3, delay_ms: 300, label: "x" };
    const controller = new AbortController();
    let runId = "";
    const stream = agents.runs.stream(thread.thread_id, "slow", {
      input,
      onDisconnect: "continue",
      signal: controller.signal,
      onRunCreated: ({ run_id }) => (runId = run_id),
    });
    for await (const _event of stream) break;
    controller.abort();
    const [root] = await traceOf(tracing, runId);
    expect(root).toMatchObject({ name: "LangGraph", status: "success", inputs: input });
  });

  test("has the error at the step that failed", async ({ server, expect }) => {
    const { agents, tracing } = await setUp(server, "failure");
    const thread = await agents.threads.create();
    const run = await agents.runs.create(thread.thread_id, "throws", { input: { message: "boo" } });
    await agents.runs.join(thread.thread_id, run.run_id);
    const runs = await traceOf(tracing, run.run_id);
    expectTree(expect, runs, [
      [null, "LangGraph", "chain", "error"],
      ["LangGraph", "__start__", "chain", "success"],
      ["LangGraph", "prepare", "chain", "success"],
      ["LangGraph", "fail", "chain", "error"],
    ]);
    expect(runs[0]?.error?.split("\n", 1)[0]).toBe("boo");
  });

  test("is no failure when it stops at an interrupt", async ({ server, expect }) => {
    const { agents, tracing } = await setUp(server, "interrupt");
    const thread = await agents.threads.create();
    const run = await agents.runs.create(thread.thread_id, "interrupts", {
      input: { mode: "twice" },
    });
    await agents.runs.join(thread.thread_id, run.run_id);
    const runs = await traceOf(tracing, run.run_id);
    expect(runs[0]?.status).toBe("success");
    const asking = runs.find(({ name }) => name === "ask");
    expect(asking?.error).toContain("GraphInterrupt");
  });
});
