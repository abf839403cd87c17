import type { Client, Run } from "langsmith";
import { describe } from "vitest";
import { ingestWorkspace } from "../support/ingest.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { type RunData, runData } from "../support/trace-data.ts";
import { collect } from "../support/tracing.ts";
import { MISSING_ID } from "../support/uuid.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const EXAMPLE = "0198c0de-0000-7000-8000-0000000000e1";

/** Runs whose names say what is asked for in the tests; two threads, two projects. */
async function shopOf(server: TestServer) {
  const workspace = await ingestWorkspace(server, "shop");
  const { client } = workspace;
  const now = Date.now();
  const make = (name: string, seconds: number | null, more: Record<string, unknown>): RunData => {
    const start = new Date(now - HOUR_MS - Number(more["ago"] ?? 0));
    const end = seconds === null ? {} : { end_time: start.getTime() + seconds * 1000 };
    return runData("shop", { start, name, ...end, ...more });
  };
  const thread = (thread_id: string) => ({ extra: { metadata: { thread_id } } });
  const usage = (input_tokens: number) => ({
    outputs: { usage_metadata: { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 } },
  });
  const slow = make("slow agent", 12, { ...thread("t1"), tags: ["experimental"] });
  const slowModel = make("extractor", 11, {
    ...usage(6000),
    parent: slow,
    run_type: "llm",
    ago: -1,
  });
  const search = make("search", 1, {
    parent: slow,
    run_type: "tool",
    error: "none found",
    ago: -2,
  });
  const fast = make("fast agent", 1, { ...thread("t1"), tags: ["beta"], ago: 1000 });
  const fastModel = make("extractor", 0.5, {
    ...usage(10),
    parent: fast,
    run_type: "llm",
    ago: 999,
  });
  const old = make("old job", 5, {
    ...thread("t2"),
    ago: 3 * DAY_MS,
    error: "gone",
    reference_example_id: EXAMPLE,
  });
  const pending = make("pending job", null, { ago: -1000, tags: ["beta"] });
  const other = { ...make("other", 1, { ago: -3 }), session_name: "second shop" };
  const post = [slow, slowModel, search, fast, fastModel, old, pending, other];
  await workspace.batch({ post });
  const opinions: [RunData, string, number][] = [
    [slow, "user_score", 1],
    [fast, "user_score", 0],
    [fastModel, "Correctness", 0],
  ];
  for (const [run, key, score] of opinions) {
    await client.createFeedback(run.id, key, { score, traceId: run.trace_id });
  }
  const { id: shop } = await client.readProject({ projectName: "shop" });
  const runs = { slow, slowModel, search, fast, fastModel, old, pending, other };
  return { ...workspace, now, shop, runs };
}

type Shop = Awaited<ReturnType<typeof shopOf>>;

const test = testWithServer().extend("shop", { scope: "file" }, ({ server }) => shopOf(server));

type ListOptions = Parameters<Client["listRuns"]>[0];

/** What a query says, and the runs in the order of the answer. */
const LISTS: [what: string, (shop: Shop) => ListOptions, (keyof Shop["runs"])[]][] = [
  [
    "of a project, by its name",
    () => ({ projectName: "shop" }),
    ["pending", "search", "slowModel", "slow", "fastModel", "fast", "old"],
  ],
  [
    "of a project, by its id",
    ({ shop }) => ({ projectId: shop, isRoot: true, limit: 2 }),
    ["pending", "slow"],
  ],
  [
    "of several projects",
    ({ shop }) => ({ projectId: [shop], projectName: ["second shop"], runType: "chain" }),
    ["pending", "other", "slow", "fast", "old"],
  ],
  [
    "from the oldest on",
    () => ({ projectName: "shop", isRoot: true, order: "asc" }),
    ["old", "fast", "slow", "pending"],
  ],
  ["of a kind", () => ({ projectName: "shop", runType: "tool" }), ["search"]],
  ["that failed", () => ({ projectName: "shop", error: true }), ["search", "old"]],
  [
    "that did not fail",
    () => ({ projectName: "shop", error: false, isRoot: true }),
    ["pending", "slow", "fast"],
  ],
  [
    "below others",
    () => ({ projectName: "shop", isRoot: false, runType: "llm" }),
    ["slowModel", "fastModel"],
  ],
  [
    "first in their order",
    () => ({ projectName: "shop", executionOrder: 1, error: true }),
    ["old"],
  ],
  ["of a trace", ({ runs }) => ({ traceId: runs.fast.id }), ["fastModel", "fast"]],
  ["of a parent", ({ runs }) => ({ parentRunId: runs.slow.id }), ["search", "slowModel"]],
  ["of an example", () => ({ projectName: "shop", referenceExampleId: EXAMPLE }), ["old"]],
  [
    "that started lately",
    ({ now }) => ({ projectName: "shop", isRoot: true, startTime: new Date(now - HOUR_MS) }),
    ["pending", "slow"],
  ],
  [
    "of ids, whatever else is said",
    ({ runs }) => ({ id: [runs.fast.id, runs.other.id, MISSING_ID], runType: "tool", limit: 5 }),
    ["other", "fast"],
  ],
  [
    "that took long and many tokens",
    () => ({
      projectName: "shop",
      filter: 'and(eq(run_type, "chain"), gt(latency, 10), gt(total_tokens, 5000))',
    }),
    ["slow"],
  ],
  [
    "of traces that people liked",
    () => ({
      projectName: "shop",
      filter: 'eq(name, "extractor")',
      traceFilter: 'and(eq(feedback_key, "user_score"), eq(feedback_score, 1))',
    }),
    ["slowModel"],
  ],
  [
    "since then that failed or were judged wrong",
    ({ now }) => ({
      projectName: "shop",
      filter: `and(gt(start_time, "${new Date(now - DAY_MS).toISOString()}"), or(neq(error, null), and(eq(feedback_key, "Correctness"), eq(feedback_score, 0.0))))`,
    }),
    ["search", "fastModel"],
  ],
  [
    "with one of two tags that took longer",
    () => ({
      projectName: "shop",
      filter: 'and(or(has(tags, "experimental"), has(tags, "beta")), gt(latency, 2))',
    }),
    ["slow"],
  ],
  [
    "of traces in which some run is a search",
    () => ({ projectName: "shop", isRoot: true, treeFilter: 'eq(name, "search")' }),
    ["slow"],
  ],
  ["of which there are none", () => ({ projectName: "shop", filter: 'eq(name, "nothing")' }), []],
];

function keysOf({ runs }: Shop, list: readonly Run[]): string[] {
  const byId = new Map(Object.entries(runs).map(([key, { id }]) => [id, key]));
  return list.map(({ id }) => byId.get(id) ?? id);
}

describe("the official client lists runs", () => {
  test.for(LISTS)("%s", async ([, options, expected], { shop, expect }) => {
    const found = await collect(shop.client.listRuns(options(shop)));
    expect(keysOf(shop, found)).toEqual(expected);
  });

  test("with the fields that it asks for, and those that it always reads", async ({
    shop,
    expect,
  }) => {
    const [run] = await collect(
      shop.client.listRuns({ id: [shop.runs.slow.id], select: ["tags", "child_run_ids"] }),
    );
    const { slow, slowModel, search } = shop.runs;
    expect(run).toEqual({
      id: slow.id,
      name: "slow agent",
      run_type: "chain",
      start_time: expect.any(String),
      trace_id: slow.id,
      dotted_order: slow.dotted_order,
      status: "success",
      session_id: shop.shop,
      app_path: expect.any(String),
      tags: ["experimental"],
      child_run_ids: expect.toSatisfy(
        (ids: string[]) => ids.toSorted().join() === [slowModel.id, search.id].toSorted().join(),
      ),
      direct_child_run_ids: expect.any(Array),
    });
  });

  test("page by page, even when all of them start at once", async ({ shop, expect }) => {
    const start = new Date();
    const post = Array.from({ length: 250 }, (_, index) =>
      runData("pages", { start, inputs: { index } }),
    );
    await shop.batch({ post });
    const { client } = shop;
    for (const order of ["asc", "desc"] as const) {
      const all = await collect(client.listRuns({ projectName: "pages", order }));
      const indexes = all.map(({ inputs }) => Number(inputs["index"])).toSorted((a, b) => a - b);
      expect(indexes).toEqual(Array.from({ length: 250 }, (_, index) => index));
    }
    for (const limit of [1, 100, 101, 249, 250, 1000]) {
      const some = await collect(client.listRuns({ projectName: "pages", limit }));
      expect(new Set(some.map(({ id }) => id)).size).toBe(Math.min(limit, 250));
    }
  });

  test("and hears what it may not ask", async ({ shop, expect }) => {
    const ask = async (options: ListOptions) => collect(shop.client.listRuns(options));
    await expect(ask({ projectName: "nowhere" })).rejects.toThrow("not found");
    await expect(ask({ projectName: "shop", filter: "eq(name)" })).rejects.toThrow(
      /\[422\].*filter/,
    );
    await expect(ask({ projectName: "shop", query: "all slow runs" })).rejects.toThrow(
      /\[422\].*query/,
    );
    await expect(shop.client.readRun(MISSING_ID)).rejects.toThrow(`Run ${MISSING_ID} not found`);
    expect(await ask({ projectId: MISSING_ID })).toEqual([]);
  });
});

describe("the official client asks for statistics", () => {
  const COUNTS: [
    string,
    (shop: Shop) => Omit<Parameters<Client["getRunStats"]>[0], "projectNames">,
    number,
  ][] = [
    ["of a project", () => ({}), 7],
    ["of a kind", () => ({ runType: "llm" }), 2],
    ["of ids", ({ runs }) => ({ id: [runs.slow.id, runs.old.id] }), 2],
    ["of a trace", ({ runs }) => ({ trace: runs.slow.id }), 3],
    ["of a parent", ({ runs }) => ({ parentRun: runs.slow.id }), 2],
    ["of an example", () => ({ referenceExampleIds: [EXAMPLE] }), 1],
    [
      "of a time",
      ({ now }) => ({
        startTime: new Date(now - 2 * HOUR_MS).toISOString(),
        endTime: new Date(now - HOUR_MS - 500).toISOString(),
      }),
      2,
    ],
    ["of what failed", () => ({ error: true }), 2],
    ["of roots", () => ({ isRoot: true, dataSourceType: "historical" }), 4],
    ["of a filter", () => ({ filter: 'eq(name, "extractor")' }), 2],
    ["of a trace filter", () => ({ traceFilter: 'has(tags, "beta")' }), 3],
    ["of a tree filter", () => ({ treeFilter: 'eq(name, "search")' }), 3],
  ];

  test.for(COUNTS)("%s", async ([, options, run_count], { shop, expect }) => {
    const stats = await shop.client.getRunStats({ projectNames: ["shop"], ...options(shop) });
    expect(stats).toMatchObject({ run_count });
  });

  test("and gets all of them", async ({ shop, expect }) => {
    const stats = await shop.client.getRunStats({ projectIds: [shop.shop], isRoot: true });
    expect(stats).toMatchObject({
      run_count: 4,
      error_rate: 0.25,
      streaming_rate: 0,
      total_tokens: 6012,
      prompt_tokens: 6010,
      completion_tokens: 2,
      feedback_stats: { user_score: { n: 2, avg: 0.5 } },
    });
    const { latency_p50, latency_p99 } = stats as { latency_p50: number; latency_p99: number };
    expect(Math.abs(latency_p50 - 5)).toBeLessThan(0.5);
    expect(Math.abs(latency_p99 - 12)).toBeLessThan(0.5);
  });
});

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

  test("of the last day, or since then", async ({ shop, expect }) => {
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

  test("that it shares, with what is below it", async ({ server, shop, expect }) => {
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

describe("the official client judges a run", () => {
  test("by what an evaluator says", async ({ shop, expect }) => {
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
