import type { Client } from "langsmith";
import { describe } from "vitest";
import { testWithSharedServer } from "../support/shared-server.ts";
import { DAY_MS, EXAMPLE, HOUR_MS, keysOf, type Shop, shopOf } from "../support/shop.ts";
import { runData } from "../support/trace-data.ts";
import { collect } from "../support/tracing.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithSharedServer().extend("shop", { scope: "file" }, ({ server }) =>
  shopOf(server),
);

type ListOptions = Parameters<Client["listRuns"]>[0];

/** The title of a query, its options, and the expected runs in order. */
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

describe("the official client lists runs", () => {
  test.for(LISTS)("%s", async ([, options, expected], { shop, expect }) => {
    const found = await collect(shop.client.listRuns(options(shop)));
    expect(keysOf(shop, found)).toEqual(expected);
  });

  test("with the requested fields, and those that it always reads", async ({ shop, expect }) => {
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
      prompt_token_details: null,
      completion_token_details: null,
      prompt_cost_details: null,
      completion_cost_details: null,
      s3_urls: null,
    });
  });

  test("page by page, even if all of them start at the same time", async ({ shop, expect }) => {
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

  test("and gets an error for an unsupported query", async ({ shop, expect }) => {
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

describe("the official client requests statistics", () => {
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
    ["of failed runs", () => ({ error: true }), 2],
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
