import { describe } from "vitest";
import { hasPythonClients, runPython } from "../support/python.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { tracingWorkspace, type TracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer()
  .extend("workspace", { scope: "file" }, ({ server }) => tracingWorkspace(server, "python"))
  .extend("python", { scope: "file" }, ({ server, workspace }) => {
    return (scenario: string, args: Record<string, unknown>) =>
      runPython("tracing", scenario, args, { url: server.url, apiKey: workspace.apiKey });
  });

type Found = Record<string, unknown> & { id: string; name: string };

/** Returns the runs of a project from the server, in the order of their start. */
async function runsOf({ api, client }: TracingWorkspace, projectName: string): Promise<Found[]> {
  const { id } = await client.readProject({ projectName });
  const response = await api("POST", "/runs/query", { session: [id], order: "asc" });
  return ((await response.json()) as { runs: Found[] }).runs;
}

describe.skipIf(!hasPythonClients)("Python's langsmith client", () => {
  test("sends a run and its update from its queue", async ({ workspace, python, expect }) => {
    const id = await python("created_and_updated", { project: "queued" });
    expect(await runsOf(workspace, "queued")).toMatchObject([
      {
        id,
        trace_id: id,
        parent_run_id: null,
        name: "model",
        run_type: "llm",
        status: "success",
        inputs: { messages: [{ role: "user", content: "héllo \u2028" }] },
        outputs: { answer: 42 },
        events: [{ name: "new_token" }],
        tags: ["python"],
        extra: { metadata: { ls_model_name: "gpt-4o-mini" }, runtime: { sdk: "langsmith-py" } },
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_token_details: { cache_read: 4 },
        total_cost: expect.stringMatching(/^0\.0000\d+$/),
      },
    ]);
  });

  test("sends runs one by one", async ({ workspace, python, expect }) => {
    const id = await python("unbatched", { project: "one by one" });
    expect(await runsOf(workspace, "one by one")).toMatchObject([
      { id, name: "failing", run_type: "tool", status: "error", error: "ValueError: no" },
    ]);
  });

  test("sends a single run without an id", async ({ workspace, python, expect }) => {
    await python("without_id", { project: "nameless" });
    expect(await runsOf(workspace, "nameless")).toMatchObject([
      { name: "nameless", inputs: { a: 1 }, status: "pending" },
    ]);
  });

  test.for(["batch", "multipart"])(
    "sends runs by %s",
    async (way, { workspace, python, expect }) => {
      const ids = await python("in_batches", { project: way, way });
      const runs = await runsOf(workspace, way);
      expect(runs.map(({ id }) => id)).toEqual(ids);
      expect(runs).toMatchObject(
        [0, 1, 2].map((n) => ({ name: `${way} ${n}`, inputs: { n }, outputs: { n } })),
      );
    },
  );

  test("sends the tree of traceable functions", async ({ workspace, python, expect }) => {
    const ids = (await python("nested", { project: "nested" })) as Record<string, string>;
    const runs = await runsOf(workspace, "nested");
    const shown = runs.map(({ id, name, run_type, parent_run_id, trace_id, status }) => ({
      id,
      name,
      run_type,
      parent_run_id,
      trace_id,
      status,
    }));
    const below = { parent_run_id: ids["root"], trace_id: ids["root"], status: "success" };
    expect(shown).toEqual([
      { ...below, id: ids["root"], name: "root", run_type: "chain", parent_run_id: null },
      { ...below, id: ids["streaming"], name: "streaming", run_type: "chain" },
      { ...below, id: ids["waiting"], name: "waiting", run_type: "retriever" },
      { ...below, id: ids["failing"], name: "failing", run_type: "chain", status: "error" },
      { ...below, id: ids["leaf"], name: "leaf", run_type: "tool" },
    ]);
    expect(runs).toMatchObject([
      { inputs: { x: 1 }, outputs: { output: 2 }, tags: ["whole"], thread_id: "python thread" },
      { inputs: { count: 3 }, outputs: { output: [0, 1, 2] } },
      { outputs: { output: [{ page_content: "1", type: "Document" }] } },
      { error: expect.stringContaining("ValueError('on purpose')") },
      { inputs: { x: 1 }, outputs: { output: 2 } },
    ]);
  });

  test("sends more runs than fit into one request", async ({ workspace, python, expect }) => {
    await python("many", { project: "many", count: 350 });
    const { client } = workspace;
    const { run_count } = await client.readProject({ projectName: "many", includeStats: true });
    expect(run_count).toBe(350);
  });

  test("sends attachments, and reads them", async ({ workspace, python, expect }) => {
    const id = await python("attachments", { project: "attached" });
    const [found] = await runsOf(workspace, "attached");
    const urls = found?.["s3_urls"] as Record<string, { presigned_url: string; mime_type: string }>;
    const stored = await Promise.all(
      Object.entries(urls).map(async ([name, { presigned_url, mime_type }]) => {
        const response = await fetch(presigned_url);
        return [name, mime_type, Buffer.from(await response.arrayBuffer()).toString("hex")];
      }),
    );
    expect([
      found?.id,
      stored.toSorted(([left = ""], [right = ""]) => left.localeCompare(right)),
    ]).toEqual([
      id,
      [
        ["attachment.bytes", "application/octet-stream", "00ff"],
        ["attachment.notes", "text/plain", Buffer.from("hello").toString("hex")],
      ],
    ]);
    expect(await python("read_attachments", { run_id: id })).toEqual({
      read: { bytes: "00ff", notes: "68656c6c6f" },
      listed: [["bytes", "notes"]],
    });
  });
});
