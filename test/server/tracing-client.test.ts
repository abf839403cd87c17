import { RunTree } from "langsmith";
import { traceable } from "langsmith/traceable";
import { describe } from "vitest";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer();

describe("the official client", () => {
  test("traces a tree of functions, which is returned unchanged", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "traceable");
    const search = traceable(async (query: string) => [`about ${query}`], {
      name: "search",
      run_type: "retriever",
    });
    const agent = traceable(async (question: string) => ({ answer: (await search(question))[0] }), {
      name: "agent",
      client,
      project_name: "trees",
      tracingEnabled: true,
      tags: ["beta"],
      metadata: { env: "prod" },
    });
    await agent("tea");
    await client.awaitPendingTraceBatches();

    const runs = await collect(client.listRuns({ projectName: "trees", order: "asc" }));
    expect(runs.map(({ name, run_type, status }) => ({ name, run_type, status }))).toEqual([
      { name: "agent", run_type: "chain", status: "success" },
      { name: "search", run_type: "retriever", status: "success" },
    ]);
    const [root, child] = runs;
    expect(root).toMatchObject({
      inputs: { input: "tea" },
      outputs: { answer: "about tea" },
      tags: ["beta"],
      parent_run_id: null,
      parent_run_ids: [],
      extra: { metadata: { env: "prod" } },
    });
    expect(child).toMatchObject({
      inputs: { input: "tea" },
      outputs: { outputs: ["about tea"] },
      parent_run_id: root?.id,
      parent_run_ids: [root?.id],
      trace_id: root?.id,
    });
    const tree = await client.readRun(root?.id ?? "", { loadChildRuns: true });
    expect(tree.child_runs?.map(({ name }) => name)).toEqual(["search"]);
  });

  test("creates and updates single runs", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "single", { autoBatchTracing: false });
    const tree = new RunTree({
      name: "parent",
      run_type: "chain",
      inputs: { n: 1 },
      client,
      project_name: "single runs",
    });
    await tree.postRun();
    const child = tree.createChild({ name: "model", run_type: "llm", inputs: { prompt: "hi" } });
    await child.postRun();
    await child.end({
      generations: [],
      usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    });
    await child.patchRun();
    const pending = await client.readRun(tree.id);
    expect(pending).toMatchObject({ status: "pending", end_time: null, total_tokens: 7 });
    await tree.end(undefined, "it broke");
    await tree.patchRun();
    expect(await client.readRun(tree.id)).toMatchObject({
      status: "error",
      error: "it broke",
      inputs: { n: 1 },
    });
    expect(await client.readRun(child.id)).toMatchObject({
      status: "success",
      prompt_tokens: 3,
      completion_tokens: 4,
      parent_run_id: tree.id,
    });
  });

  test("finds runs by filters, pages through them and shares them", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "filters");
    for (let index = 0; index < 130; index += 1) {
      const run = new RunTree({
        name: index % 2 === 0 ? "even" : "odd",
        run_type: "chain",
        inputs: { index },
        client,
        project_name: "many",
        metadata: { thread_id: `t${index % 3}` },
      });
      await run.end({ index });
      await run.postRun();
    }
    await client.awaitPendingTraceBatches();
    const all = await collect(client.listRuns({ projectName: "many" }));
    expect(all).toHaveLength(130);
    expect(new Set(all.map(({ id }) => id)).size).toBe(130);
    const times = all.map(({ start_time }) => new Date(String(start_time)).getTime());
    expect(times).toEqual(times.toSorted((left, right) => right - left));
    const even = await collect(
      client.listRuns({
        projectName: "many",
        filter: 'and(eq(name, "even"), eq(metadata_key, "thread_id"), eq(metadata_value, "t1"))',
      }),
    );
    expect(even).toHaveLength(21);
    expect(await collect(client.listRuns({ projectName: "many", limit: 7 }))).toHaveLength(7);
    const stats = await client.getRunStats({ projectNames: ["many"] });
    expect(stats).toMatchObject({ run_count: 130, error_rate: 0 });
    const groups = await collect(
      client.listGroupRuns({ projectName: "many", groupBy: "conversation" }),
    );
    expect(groups.map(({ thread_id, count }) => `${thread_id} ${count}`).toSorted()).toEqual([
      "t0 44",
      "t1 43",
      "t2 43",
    ]);

    const shared = all[0]?.id ?? "";
    const url = await client.shareRun(shared);
    const token = String(url.split("/").at(-2));
    expect(await client.readRunSharedLink(shared)).toBe(url);
    expect((await client.listSharedRuns(token)).map(({ id }) => id)).toEqual([shared]);
    await client.unshareRun(shared);
    expect(await client.readRunSharedLink(shared)).toBeUndefined();
  });

  test("stores attachments, and payloads of 20 MB", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "large");
    const text = "0123456789".repeat(2_000_000);
    const run = new RunTree({
      name: "large",
      run_type: "chain",
      inputs: { text },
      client,
      project_name: "large",
      attachments: { photo: ["image/png", new Uint8Array([1, 2, 3])] },
    });
    await run.end({ size: text.length });
    await run.postRun();
    await client.awaitPendingTraceBatches();
    const read = await client.readRun(run.id);
    expect(read.inputs["text"] === text).toBe(true);
    const { s3_urls } = read as { s3_urls?: Record<string, { presigned_url: string }> };
    const response = await fetch(String(s3_urls?.["attachment.photo"]?.presigned_url));
    expect(response.headers.get("content-type")).toBe("image/png");
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([1, 2, 3]);
  });
});
