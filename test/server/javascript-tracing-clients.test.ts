import type { Client } from "langsmith";
import { describe } from "vitest";
import { LANGSMITHS } from "../support/javascript-clients.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { type RunData, runData } from "../support/trace-data.ts";
import { collect } from "../support/tracing.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testWithSharedServer();

describe.for(LANGSMITHS)("$name", ({ name, Client, RunTree, traceable }) => {
  /** Each test has its own workspace; `connect` creates a client of it. */
  const tracing = test
    .extend("connect", async ({ server }) => {
      const { apiKey } = await makeWorkspace(server, name);
      const settings = { apiUrl: `${server.url}/api/v1`, apiKey };
      return (options: object = {}) =>
        new Client({ ...settings, callerOptions: { maxRetries: 0 }, ...options });
    })
    .extend("langsmith", ({ connect }) => connect());

  tracing("traces functions as a tree", async ({ langsmith, expect }) => {
    const search = traceable(async (query: string) => [`about ${query}`], {
      name: "search",
      run_type: "retriever",
    });
    const agent = traceable(async (question: string) => ({ answer: (await search(question))[0] }), {
      name: "agent",
      client: langsmith,
      project_name: "trees",
      tracingEnabled: true,
      tags: ["beta"],
      metadata: { env: "prod" },
    });
    await agent("tea");
    await langsmith.awaitPendingTraceBatches();
    const runs = await collect(langsmith.listRuns({ projectName: "trees", order: "asc" }));
    const [root, child] = runs;
    expect(runs).toMatchObject([
      {
        name: "agent",
        inputs: { input: "tea" },
        outputs: { answer: "about tea" },
        tags: ["beta"],
        extra: { metadata: { env: "prod" } },
        status: "success",
      },
      { name: "search", run_type: "retriever", parent_run_id: root?.id, trace_id: root?.id },
    ]);
    const tree = await langsmith.readRun(root?.id ?? "", { loadChildRuns: true });
    expect(tree.child_runs?.map(({ id, outputs }) => ({ id, outputs }))).toEqual([
      { id: child?.id, outputs: { outputs: ["about tea"] } },
    ]);
    const filter = 'eq(name, "search")';
    const found = await collect(langsmith.listRuns({ projectName: "trees", filter }));
    expect(found.map(({ id }) => id)).toEqual([child?.id]);
  });

  tracing("records runs one by one", async ({ connect, expect }) => {
    const client = connect({ autoBatchTracing: false });
    const tree = new RunTree({
      name: "parent",
      run_type: "chain",
      inputs: { n: 1 },
      client,
      project_name: "single",
    });
    await tree.postRun();
    expect(await client.readRun(tree.id)).toMatchObject({ status: "pending", inputs: { n: 1 } });
    await tree.end(undefined, "it broke");
    await tree.patchRun();
    expect(await client.readRun(tree.id)).toMatchObject({ status: "error", error: "it broke" });
  });

  tracing.for(["batchIngestRuns", "multipartIngestRuns"] as const)(
    "sends runs and their updates: %s",
    async (method, { langsmith, expect }) => {
      const project = `sent by ${method}`;
      const posted = runData(project, { inputs: { n: 1 } });
      const { id, trace_id, dotted_order } = posted;
      const whole = finished(project);
      const end_time = new Date().toISOString();
      await langsmith[method]({ runCreates: [posted, whole] as never });
      await langsmith[method]({
        runUpdates: [{ id, trace_id, dotted_order, end_time, outputs: { n: 2 } }] as never,
      });
      const read = { inputs: { n: 1 }, outputs: { n: 2 }, status: "success" };
      expect(await langsmith.readRun(id)).toMatchObject(read);
      expect(await langsmith.readRun(whole.id)).toMatchObject(read);
      const listed = await collect(langsmith.listRuns({ projectName: project }));
      expect(new Set(listed.map((run) => run.id))).toEqual(new Set([id, whole.id]));
    },
  );

  tracing("stores attachments", async ({ langsmith, expect }) => {
    const run = new RunTree({
      name: "with a photo",
      run_type: "chain",
      inputs: {},
      client: langsmith,
      project_name: "attachments",
      attachments: { photo: ["image/png", new Uint8Array([1, 2, 3])] },
    });
    await run.end({ ok: true });
    await run.postRun();
    await langsmith.awaitPendingTraceBatches();
    const { s3_urls } = (await langsmith.readRun(run.id)) as {
      s3_urls?: Record<string, { presigned_url: string }>;
    };
    const response = await fetch(String(s3_urls?.["attachment.photo"]?.presigned_url));
    expect(response.headers.get("content-type")).toBe("image/png");
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([1, 2, 3]);
  });

  tracing("gives, changes and deletes feedback", async ({ langsmith, expect }) => {
    const { id } = await send(langsmith, "judged");
    const feedback = await langsmith.createFeedback(id, "quality", {
      score: 0.5,
      comment: "well done",
    });
    await langsmith.updateFeedback(feedback.id, { score: 1 });
    const read = await langsmith.readFeedback(feedback.id);
    expect(read).toMatchObject({ run_id: id, key: "quality", score: 1, comment: "well done" });
    expect(await collect(langsmith.listFeedback({ runIds: [id] }))).toEqual([read]);
    expect(await langsmith.readRun(id)).toMatchObject({
      feedback_stats: { quality: { n: 1, avg: 1 } },
    });
    await langsmith.deleteFeedback(feedback.id);
    expect(await collect(langsmith.listFeedback({ runIds: [id] }))).toEqual([]);
  });

  tracing("shares a trace, and stops sharing it", async ({ langsmith, expect }) => {
    const { id } = await send(langsmith, "shared");
    const url = await langsmith.shareRun(id);
    expect(await langsmith.readRunSharedLink(id)).toBe(url);
    const token = String(url.split("/").at(-2));
    expect((await langsmith.listSharedRuns(token)).map((run) => run.id)).toEqual([id]);
    await langsmith.unshareRun(id);
    expect(await langsmith.readRunSharedLink(id)).toBeUndefined();
    await expect(langsmith.listSharedRuns(token)).rejects.toThrow("404");
  });

  tracing("manages projects", async ({ langsmith, expect }) => {
    const created = await langsmith.createProject({
      projectName: "first",
      description: "text",
      metadata: { env: "dev" },
    });
    const renamed = await langsmith.updateProject(created.id, { name: "renamed" });
    expect(renamed).toMatchObject({ id: created.id, name: "renamed", description: "text" });
    await send(langsmith, "renamed");
    const read = await langsmith.readProject({ projectName: "renamed", includeStats: true });
    expect(read).toMatchObject({
      id: created.id,
      run_count: 1,
      extra: { metadata: { env: "dev" } },
    });
    const listed = await collect(langsmith.listProjects({ nameContains: "renam" }));
    expect(listed.map((project) => project.id)).toEqual([created.id]);
    expect(await langsmith.hasProject({ projectName: "first" })).toBe(false);
    await langsmith.deleteProject({ projectName: "renamed" });
    expect(await langsmith.hasProject({ projectName: "renamed" })).toBe(false);
  });
});

/** A finished run as the clients' queues pass it on. */
function finished(project: string): RunData {
  const end_time = new Date().toISOString();
  return runData(project, { inputs: { n: 1 }, outputs: { n: 2 }, end_time });
}

async function send(client: Client, project: string): Promise<RunData> {
  const run = finished(project);
  await client.batchIngestRuns({ runCreates: [run] as never });
  return run;
}
