import { describe } from "vitest";
import { testWithSharedServer } from "../support/shared-server.ts";
import { DAY_MS, keysOf, shopOf } from "../support/shop.ts";
import { runData } from "../support/trace-data.ts";
import { collect } from "../support/tracing.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithSharedServer().extend("shop", { scope: "file" }, ({ server }) =>
  shopOf(server),
);

describe("the official client reads threads", () => {
  test("as groups of runs", async ({ shop, expect }) => {
    const { client, now } = shop;
    const groups = async (options: object) => {
      const found = client.listGroupRuns({
        projectName: "shop",
        groupBy: "conversation",
        ...options,
      });
      return (await collect(found)).map((group) => [Reflect.get(group, "group_key"), group.count]);
    };
    expect(await groups({})).toEqual([
      ["t1", 2],
      ["t2", 1],
    ]);
    expect(await groups({ limit: 1 })).toEqual([
      ["t1", 2],
      ["t2", 1],
    ]);
    expect(await groups({ offset: 1 })).toEqual([["t2", 1]]);
    expect(await groups({ filter: 'has(tags, "beta")' })).toEqual([["t1", 1]]);
    expect(await groups({ startTime: new Date(now - DAY_MS) })).toEqual([["t1", 2]]);
    expect(await groups({ endTime: new Date(now - DAY_MS) })).toEqual([["t2", 1]]);
    const [first] = await collect(
      client.listGroupRuns({ projectName: "shop", groupBy: "conversation" }),
    );
    expect(first).toMatchObject({ total_tokens: 6012, last_error: null });
  });

  test("and their runs", async ({ shop, expect }) => {
    const { client } = shop;
    const read = async (threadId: string, options: object = {}) =>
      keysOf(shop, await collect(client.readThread({ threadId, projectName: "shop", ...options })));
    expect(await read("t1")).toEqual(["fast", "slow"]);
    expect(await read("t1", { order: "desc" })).toEqual(["slow", "fast"]);
    expect(await read("t1", { limit: 1 })).toEqual(["fast"]);
    expect(await read("t1", { filter: 'has(tags, "experimental")' })).toEqual(["slow"]);
    expect(await read("t2", { isRoot: false })).toEqual([]);
    expect(await read('quote " and \\')).toEqual([]);
  });

  test("of the last day, or since a given time", async ({ shop, expect }) => {
    const { client, now } = shop;
    const list = async (options: object = {}) => {
      const threads = await client.listThreads({ projectName: "shop", ...options });
      return threads.map((thread) => [thread.thread_id, keysOf(shop, thread.runs)]);
    };
    const t1 = ["t1", ["fast", "slow"]];
    expect(await list()).toEqual([t1]);
    const startTime = new Date(now - 10 * DAY_MS);
    expect(await list({ startTime })).toEqual([t1, ["t2", ["old"]]]);
    expect(await list({ startTime, limit: 1 })).toEqual([t1]);
    expect(await list({ startTime, offset: 1 })).toEqual([["t2", ["old"]]]);
    expect(await list({ filter: 'has(tags, "beta")' })).toEqual([["t1", ["fast"]]]);
  });
});

describe("the official client links to a run", () => {
  test("by its page", async ({ shop, expect }) => {
    const { client, id: tenant, runs } = shop;
    const path = `/o/${tenant}/projects/p/${shop.shop}/r/${runs.slow.id}`;
    expect(await client.getRunUrl({ runId: runs.slow.id })).toContain(path);
    const run = await client.readRun(runs.slow.id);
    expect(await client.getRunUrl({ run })).toContain(`${path}?poll=true`);
    const { session_id: _, ...homeless } = run;
    const projectOpts = { projectName: "shop" };
    expect(await client.getRunUrl({ run: homeless, projectOpts })).toContain(path);
    const url = await client.getProjectUrl({ projectName: "shop" });
    expect(url).toContain(`/o/${tenant}/projects/p/${shop.shop}`);
  });

  test("when it shares the run, with its descendants", async ({ server, shop, expect }) => {
    const { client, runs } = shop;
    const shareId = crypto.randomUUID();
    expect(await client.readRunSharedLink(runs.slow.id)).toBeUndefined();
    const url = await client.shareRun(runs.slow.id, { shareId });
    expect(url).toContain(`/public/${shareId}/r`);
    expect(await client.shareRun(runs.slow.id)).toBe(url);
    expect(await client.readRunSharedLink(runs.slow.id)).toBe(url);
    const shared = await client.listSharedRuns(shareId);
    expect(keysOf(shop, shared).toSorted()).toEqual(["search", "slow", "slowModel"]);
    const { search, fast } = runs;
    const some = await client.listSharedRuns(shareId, { runIds: [search.id, fast.id] });
    expect(keysOf(shop, some)).toEqual(["search"]);
    const open = await server.fetch(`/api/v1/public/${shareId}/run`);
    expect(await open.json()).toMatchObject({ id: runs.slow.id, name: "slow agent" });

    await expect(client.shareRun(fast.id, { shareId })).rejects.toThrow(
      `The share token ${shareId} is taken`,
    );
    const below = await client.shareRun(search.id);
    const token = below.split("/").at(-2) ?? "";
    expect(keysOf(shop, await client.listSharedRuns(token))).toEqual(["search"]);
    await client.unshareRun(runs.slow.id);
    await client.unshareRun(runs.slow.id);
    await expect(client.listSharedRuns(shareId)).rejects.toThrow("[404]");
    expect(keysOf(shop, await client.listSharedRuns(token))).toEqual(["search"]);
    await expect(client.shareRun(MISSING_ID)).rejects.toThrow(`Run ${MISSING_ID} not found`);
  });
});

describe("the official client gives feedback on a run", () => {
  test("from an evaluator's result", async ({ shop, expect }) => {
    const { client } = shop;
    const run = await client.readRun(shop.runs.old.id);
    await client.logEvaluationFeedback(
      {
        results: [
          { key: "exact", score: true, comment: "same", evaluatorInfo: { by: "test" } },
          { key: "tone", value: "kind", sourceRunId: shop.runs.slow.id },
          { key: "elsewhere", score: 0.33333333, targetRunId: shop.runs.pending.id },
        ],
      },
      run,
    );
    await client.flush();
    const { feedback_stats } = await client.readRun(run.id);
    expect(feedback_stats).toMatchObject({
      exact: { n: 1, avg: 1, comments: ["same"], sources: ["model"] },
      tone: { n: 1, avg: null, values: { kind: 1 } },
    });
    const runIds = [run.id, shop.runs.pending.id];
    const feedback = await collect(client.listFeedback({ runIds, feedbackSourceTypes: ["model"] }));
    const scores = feedback.map(({ key, score, run_id }) => [key, [score, run_id]]);
    expect(Object.fromEntries(scores)).toEqual({
      elsewhere: [0.3333, shop.runs.pending.id],
      exact: [1, run.id],
      tone: [null, run.id],
    });
  });
});

describe("the official client deletes a project", () => {
  test("with its runs", async ({ shop, expect }) => {
    const { client } = shop;
    const run = runData("doomed");
    await shop.batch({ post: [run] });
    const { id } = await client.readProject({ projectName: "doomed" });
    const page = async () => keysOf(shop, await collect(client.listRuns({ id: [run.id] })));
    expect(await page()).toEqual([run.id]);
    await client.deleteProject({ projectId: id });
    await expect(client.deleteProject({ projectId: id })).rejects.toThrow("Project not found");
    expect(await page()).toEqual([]);
    await expect(client.readRun(run.id)).rejects.toThrow(`Run ${run.id} not found`);
    await shop.batch({ post: [run] });
    expect((await client.readProject({ projectName: "doomed" })).id).not.toBe(id);
    expect(await page()).toEqual([run.id]);
  });
});
