import { randomUUID } from "node:crypto";
import { describe } from "vitest";
import { hasPythonClients, runPython } from "../support/python.ts";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { runData, type RunData } from "../support/trace-data.ts";
import { tracingWorkspace, type TracingWorkspace } from "../support/tracing.ts";

const PROJECT = "read by Python";
const THREAD = "thread of Python";

type Tree = { root: RunData; middle: RunData; leaf: RunData; model: RunData };

/** Sends a trace with the JavaScript client, for Python to read. */
async function sendTree({ api }: TracingWorkspace): Promise<Tree> {
  const start = (milliseconds: number) => ({ start: new Date(Date.now() - 1000 + milliseconds) });
  const metadata = { thread_id: THREAD };
  const root = runData(PROJECT, { ...start(0), name: "root", extra: { metadata } });
  const middle = runData(PROJECT, { ...start(1), name: "middle", parent: root });
  const leaf = runData(PROJECT, { ...start(2), name: "leaf", parent: middle, error: "no" });
  const model = runData(PROJECT, {
    ...start(3),
    name: "model",
    run_type: "llm",
    parent: root,
    inputs: { text: "What?" },
    extra: { metadata: { ls_provider: "openai", ls_model_name: "gpt-4o-mini" } },
    outputs: {
      usage_metadata: {
        input_tokens: 1000,
        output_tokens: 100,
        total_tokens: 1100,
        input_token_details: { cache_read: 400 },
      },
    },
  });
  await api("POST", "/runs/batch", { post: [root, middle, leaf, model] });
  return { root, middle, leaf, model };
}

async function python(
  server: TestServer,
  { apiKey }: TracingWorkspace,
  scenario: string,
  args: Record<string, unknown>,
): Promise<unknown> {
  return runPython("reading", scenario, args, { url: server.url, apiKey });
}

const test = testWithSharedServer()
  .extend("workspace", { scope: "file" }, ({ server }) => tracingWorkspace(server, "python reads"))
  .extend("tree", { scope: "file" }, ({ workspace }) => sendTree(workspace));

describe.skipIf(!hasPythonClients)("Python's langsmith client", () => {
  test("reads a run with the runs below it", async ({ server, workspace, tree, expect }) => {
    const read = (run_id: string) => python(server, workspace, "tree", { run_id });
    const middle = { name: "middle", below: [{ name: "leaf", below: [] }] };
    expect(await read(tree.root.id)).toEqual({
      name: "root",
      below: [middle, { name: "model", below: [] }],
    });
    expect(await read(tree.middle.id)).toEqual(middle);
  });

  test("lists runs, with their detailed usage", async ({ server, workspace, tree, expect }) => {
    const args = { project: PROJECT, trace_id: tree.root.id };
    expect(await python(server, workspace, "lists", args)).toEqual({
      all: ["model", "leaf", "middle", "root"],
      roots: ["root"],
      filtered: ["leaf"],
      failed: ["leaf"],
      of_trace: ["model", "leaf"],
      token_details: { cache_read: 400 },
      cost_details: { cache_read: "0.00003" },
      total_cost: "0.00018",
    });
  });

  test("requests statistics and threads", async ({ server, workspace, tree, expect }) => {
    expect(tree.root.id).toBeTruthy();
    const args = { project: PROJECT, thread_id: THREAD };
    expect(await python(server, workspace, "statistics", args)).toEqual({
      run_count: 4,
      // The total counts the model's tokens and those that the root inherits from it.
      total_tokens: 2200,
      threads: [[THREAD, 1]],
      of_thread: ["root"],
    });
  });

  test("reads by the second version of the API", async ({ server, workspace, tree, expect }) => {
    const { id: project_id } = await workspace.client.readProject({ projectName: PROJECT });
    const trace_id = tree.root.id;
    const args = {
      project_id,
      trace_id,
      run_id: tree.model.id,
      thread_id: THREAD,
      since: new Date(Date.now() - 3_600_000).toISOString(),
    };
    expect(await python(server, workspace, "second_api", args)).toEqual({
      retrieved: ["model", tree.model["inputs"], 1100],
      runs: ["model", "leaf", "middle", "root"],
      traces: ["root"],
      of_trace: ["root", "middle", "leaf", "model"],
      threads: [THREAD],
      of_thread: [trace_id],
      turns: 1,
      url: expect.objectContaining({ url: expect.stringContaining(tree.model.id) }),
    });
  });

  test("gets an error for runs that do not exist", async ({ server, workspace, tree, expect }) => {
    expect(tree.root.id).toBeTruthy();
    const missing = python(server, workspace, "tree", { run_id: randomUUID() });
    await expect(missing).rejects.toThrow("LangSmithNotFoundError");
  });
});
