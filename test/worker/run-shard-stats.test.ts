import { env } from "cloudflare:workers";
import fc from "fast-check";
import { assert, beforeAll, describe, inject, test } from "vitest";
import {
  type FeedbackStat,
  feedbackStats,
  type ShardFeedback,
} from "../../src/tracing/shard/feedback-stats.ts";
import { parseFeedbackBody } from "../../src/tracing/api/v1/feedback/feedback-body.ts";
import { feedbackDeps } from "../../src/tracing/feedback/feedback-shards.ts";
import { recordFeedback } from "../../src/tracing/feedback/record-feedback.ts";
import { collectStats } from "../../src/tracing/query/run-stats.ts";
import type { RunSelection } from "../../src/tracing/shard/selection.ts";
import {
  neededFor,
  STATS_SELECT,
  toStatsJson,
} from "../../src/tracing/api/v1/queries/stats-json.ts";
import { ALL_RUNS, type GroupBy } from "../../src/tracing/shard/shard-stats.ts";
import type { RunType } from "../../src/tracing/model/run-write.ts";
import { root, TestStore, updateOf } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const NOON = Date.parse("2026-03-01T12:00:00Z");
const DAY_MS = 86_400_000;
const MICROS = 1e6;

type Rating = { key: string; score: number | null; value: unknown; error: boolean };

type Model = {
  name: string;
  type: RunType;
  start: number;
  /** In milliseconds. */
  took: number | null;
  firstToken: number | null;
  failed: boolean;
  tags: string[];
  env: string | null;
  tokens: number | null;
  cost: number | null;
  ratings: Rating[];
};

const ratings: fc.Arbitrary<Rating> = fc.record({
  key: fc.constantFrom("quality", "__proto__"),
  score: fc.option(fc.constantFrom(0, 0.25, 1, 3), { freq: 2 }),
  value: fc.constantFrom(null, "good", "bad", "__proto__", { a: 1 }, 7, "x".repeat(300)),
  error: fc.constantFrom(false, false, true),
});

const models: fc.Arbitrary<Model[]> = fc.array(
  fc.record({
    name: fc.constantFrom("a", "b", "__proto__"),
    type: fc.constantFrom<RunType>("llm", "tool"),
    start: fc.nat({ max: 3 * DAY_MS }).map((offset) => NOON + offset),
    took: fc.option(
      fc.oneof(fc.nat({ max: 9 }), fc.nat({ max: 1e5 }), fc.constant(-5), fc.nat({ max: 1e10 })),
      { freq: 9 },
    ),
    firstToken: fc.option(fc.nat({ max: 3000 }), { freq: 2 }),
    failed: fc.boolean(),
    tags: fc.uniqueArray(fc.constantFrom("x", "y", "z"), { maxLength: 2 }),
    env: fc.option(fc.constantFrom("prod", "dev")),
    tokens: fc.option(fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 200_000 }))),
    cost: fc.option(fc.nat({ max: 5_000_000 }).map((micro) => micro / 1e6)),
    ratings: fc.array(ratings, { maxLength: 3 }),
  }),
  { minLength: 80, maxLength: 120 },
);

async function store(all: readonly Model[]): Promise<TestStore> {
  const target = new TestStore();
  await target.spread("p", 3);
  const inputs: unknown[] = [];
  const bodies = all.map((model) => {
    const { start, took, firstToken, tokens, cost, env } = model;
    const counted = {
      ...(tokens === null ? {} : { input_tokens: tokens, input_token_details: { audio: 1 } }),
      ...(cost === null ? {} : { total_cost: cost }),
    };
    const run = root({
      start: new Date(start),
      name: model.name,
      run_type: model.type,
      tags: model.tags,
      outputs: { usage_metadata: counted },
      ...(took === null ? {} : { end_time: new Date(start + took).toISOString() }),
      ...(model.failed ? { error: "broken" } : {}),
      ...(env === null ? {} : { extra: { metadata: { env, n: 1 } } }),
      ...(firstToken === null
        ? {}
        : { events: [{ name: "new_token", time: new Date(start + firstToken).toISOString() }] }),
    });
    for (const rating of model.ratings) inputs.push({ run_id: run.id, ...rating });
    return run;
  });
  assert((await target.post(...bodies)).length === 0);
  const outcomes = await recordFeedback(
    feedbackDeps(env),
    target.workspaceId,
    inputs.map((input) => parseFeedbackBody(input)),
  );
  assert(outcomes.every(({ ok }) => ok));
  return target;
}

type Stats = Record<string, unknown>;

async function statsOf(
  target: TestStore,
  selection: RunSelection,
  groupBy: GroupBy | null,
): Promise<Map<string, Stats>> {
  const groups = await collectStats(env, {
    workspaceId: target.workspaceId,
    projectIds: undefined,
    selection,
    groupBy,
    query: neededFor(STATS_SELECT),
  });
  return new Map([...groups].map(([name, totals]) => [name, toStatsJson(totals, STATS_SELECT)]));
}

function percentileOf(values: readonly number[], fraction: number): number | null {
  const sorted = values.toSorted((left, right) => left - right);
  const rank = fraction * (sorted.length - 1);
  const [lower, upper] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  if (lower === undefined || upper === undefined) return null;
  return lower + (upper - lower) * (rank - Math.floor(rank));
}

/** Compares values: percentiles are exact to a thousandth, and whole numbers are rounded. */
function isNear(actual: unknown, expected: number | null, rounding: number): boolean {
  if (expected === null || actual === null) return actual === expected;
  return Math.abs(Number(actual) - expected) <= Math.abs(expected) / 1000 + rounding;
}

function present(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Returns the first name that does not agree with a naive computation, or null. */
function difference(stats: Stats, all: readonly Model[]): string | null {
  const seconds = (values: readonly (number | null)[]) => present(values).map((ms) => ms / 1000);
  const latencies = seconds(all.map(({ took }) => took));
  const firstTokens = seconds(all.map(({ firstToken }) => firstToken));
  const tokens = all.map(({ tokens }) => tokens ?? 0);
  const costs = present(all.map(({ cost }) => cost));
  const near: [name: string, expected: number | null, rounding: number][] = [
    ["run_count", all.length, 0],
    ["latency_p50", percentileOf(latencies, 0.5), 1 / MICROS],
    ["latency_p99", percentileOf(latencies, 0.99), 1 / MICROS],
    ["latency_avg", latencies.length === 0 ? null : sum(latencies) / latencies.length, 1 / MICROS],
    ["first_token_p50", percentileOf(firstTokens, 0.5), 1 / MICROS],
    ["first_token_p99", percentileOf(firstTokens, 0.99), 1 / MICROS],
    ["median_tokens", percentileOf(tokens, 0.5), 0.5],
    ["tokens_p99", percentileOf(tokens, 0.99), 0.5],
    ["prompt_tokens_p50", percentileOf(tokens, 0.5), 0.5],
    ["prompt_tokens_p99", percentileOf(tokens, 0.99), 0.5],
    ["completion_tokens_p99", 0, 0],
    ["cost_p50", percentileOf(costs, 0.5), 1e-12],
    ["cost_p99", percentileOf(costs, 0.99), 1e-12],
    ["total_cost", costs.length === 0 ? null : sum(costs), 1e-9],
    ["error_rate", all.filter(({ failed }) => failed).length / all.length, 1e-9],
    ["streaming_rate", firstTokens.length / all.length, 1e-9],
  ];
  for (const [name, expected, rounding] of near) {
    if (!isNear(stats[name], expected, rounding)) {
      return `${name}: ${String(stats[name])}, not ${expected}`;
    }
  }
  const starts = all.map(({ start }) => start);
  const counted = all.filter(({ tokens }) => tokens !== null).length;
  const exact: [name: string, expected: unknown][] = [
    ["total_tokens", sum(tokens)],
    ["prompt_tokens", sum(tokens)],
    ["completion_tokens", 0],
    ["last_run_start_time", new Date(Math.max(...starts)).toISOString().replace("Z", "000Z")],
    ["prompt_token_details", counted === 0 ? null : { audio: counted }],
    ["completion_cost", null],
  ];
  for (const [name, expected] of exact) {
    if (JSON.stringify(stats[name]) !== JSON.stringify(expected)) {
      return `${name}: ${JSON.stringify(stats[name])}, not ${JSON.stringify(expected)}`;
    }
  }
  return feedbackDifference(stats["feedback_stats"] as Record<string, FeedbackStat>, all);
}

/** Compares the statistics of all runs' feedback with those of the same feedback on one run. */
function feedbackDifference(
  stats: Record<string, FeedbackStat>,
  all: readonly Model[],
): string | null {
  const rows = all.flatMap(({ ratings }) =>
    ratings.map(({ key, score, value, error }): ShardFeedback => ({
      id: "",
      runId: "",
      key,
      score,
      value: value === null ? null : JSON.stringify(value),
      comment: null,
      source: "api",
      error,
      extendRetention: false,
      createdAt: 0,
    })),
  );
  const expected = feedbackStats(rows);
  const keys = (record: object) => Object.keys(record).toSorted().join();
  if (keys(stats) !== keys(expected)) return `feedback keys: ${keys(stats)}, not ${keys(expected)}`;
  for (const [key, wanted] of Object.entries(expected)) {
    const given = stats[key];
    if (given === undefined) return `no feedback ${key}`;
    for (const name of ["n", "avg", "min", "max", "stdev", "errors"] as const) {
      if (!isNear(given[name], wanted[name], 1e-6)) {
        return `feedback ${key} ${name}: ${given[name]}, not ${wanted[name]}`;
      }
    }
    const counts = (values: Record<string, number>) =>
      Object.entries(values)
        .map(([label, n]) => `${label} ${n}`)
        .toSorted()
        .join();
    if (counts(given.values) !== counts(wanted.values)) {
      return `labels of ${key}: ${counts(given.values)}, not ${counts(wanted.values)}`;
    }
  }
  return null;
}

function groupsOf(all: readonly Model[], groupBy: GroupBy | null): Map<string, Model[]> {
  const namesOf = (model: Model): string[] => {
    switch (groupBy?.attribute) {
      case "name":
        return [model.name];
      case "run_type":
        return [model.type];
      case "tag":
        return model.tags;
      case "metadata":
        return model.env === null ? [] : [model.env];
      case "start_time": {
        const micros = model.start * 1000;
        return [String(micros - (micros % groupBy.intervalMicros))];
      }
      case undefined:
        return [ALL_RUNS];
    }
  };
  const groups = new Map<string, Model[]>();
  for (const model of all) {
    for (const name of namesOf(model)) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [model]);
      else group.push(model);
    }
  }
  return groups;
}

const GROUPINGS: (GroupBy | null)[] = [
  null,
  { attribute: "name" },
  { attribute: "run_type" },
  { attribute: "tag" },
  { attribute: "metadata", path: "env" },
  { attribute: "start_time", intervalMicros: 5 * 3_600_000_000 },
];

const SELECTIONS: [RunSelection, (model: Model) => boolean][] = [
  [{}, () => true],
  [{ hasError: true }, ({ failed }) => failed],
  [
    { runType: "llm", from: (NOON + DAY_MS) * 1000 },
    (model) => model.type === "llm" && model.start >= NOON + DAY_MS,
  ],
  [
    { filter: 'and(has(tags, "x"), eq(name, "a"))' },
    (model) => model.tags.includes("x") && model.name === "a",
  ],
  [
    { treeFilter: 'eq(name, "b")', traceFilter: 'eq(run_type, "tool")' },
    (model) => model.name === "b" && model.type === "tool",
  ],
];

describe("statistics", () => {
  test.for([11, 12, 13])(
    "agree with a naive computation over the same runs (dataset %i)",
    async (seed, { expect }) => {
      const [all] = fc.sample(models, { seed, numRuns: 1 });
      assert(all !== undefined);
      const target = await store(all);
      for (const groupBy of GROUPINGS) {
        for (const [selection, holds] of SELECTIONS) {
          const expected = groupsOf(all.filter(holds), groupBy);
          const stats = await statsOf(target, selection, groupBy);
          if (groupBy === null && expected.size === 0) continue;
          expect([...stats.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
          for (const [name, group] of expected) {
            const found = difference(stats.get(name) ?? {}, group);
            expect([groupBy, selection, name, found]).toEqual([groupBy, selection, name, null]);
          }
        }
      }
    },
  );

  test("count names, types and tags", async ({ expect }) => {
    const target = new TestStore();
    const start = new Date(NOON);
    const later = new Date(NOON + DAY_MS);
    await target.post(
      root({ start, name: "a", tags: ["x", "x", "y"] }),
      root({ start: later, name: "a", tags: ["x"] }),
      root({ start: later, name: "b", run_type: "llm" }),
    );
    const stats = (await statsOf(target, {}, null)).get(ALL_RUNS);
    const facets = stats?.["run_facets"] as { key: string; value: string; n: number }[];
    expect(facets.map(({ key, value, n }) => `${key} ${value} ${n}`).toSorted()).toEqual([
      "name a 2",
      "name b 1",
      "run_type chain 2",
      "run_type llm 1",
      "tag x 2",
      "tag y 1",
    ]);
  });

  test("without runs have only zeros as numbers", async ({ expect }) => {
    const target = new TestStore();
    const stats = (await statsOf(target, {}, null)).get(ALL_RUNS);
    expect(stats).toMatchObject({
      run_count: 0,
      total_tokens: 0,
      latency_p50: null,
      latency_avg: null,
      error_rate: null,
      total_cost: null,
      last_run_start_time: null,
      feedback_stats: {},
      run_facets: [],
      prompt_token_details: null,
    });
    expect(await statsOf(target, {}, { attribute: "name" })).toEqual(new Map());
  });

  test("survive sums that exceed a whole number", async ({ expect }) => {
    const target = new TestStore();
    const start = new Date(NOON);
    const run = root({ start });
    const outputs = { usage_metadata: { total_cost: 9000, input_tokens: 1e12 } };
    const many = Array.from({ length: 1200 }, () =>
      root({ start, start_time: 0, end_time: "2255-01-01T00:00:00Z", outputs }),
    );
    for (let from = 0; from < many.length; from += 400) {
      await target.post(...many.slice(from, from + 400));
    }
    await target.post(run);
    const stats = (await statsOf(target, {}, null)).get(ALL_RUNS);
    expect(stats).toMatchObject({ run_count: 1201, total_cost: "10800000", total_tokens: 12e14 });
    expect(stats?.["latency_avg"]).toBeCloseTo(Date.parse("2255-01-01T00:00:00Z") / 1000, -1);
  });

  test("no longer count labels and tags that are changed or deleted", async ({ expect }) => {
    const target = new TestStore();
    const run = root({ start: new Date(NOON), tags: ["old"], extra: { metadata: { env: "old" } } });
    await target.post(run);
    await target.patch(updateOf(run, { tags: ["new"], extra: { metadata: { env: "new" } } }));
    for (const [groupBy, group] of [
      [{ attribute: "tag" }, "new"],
      [{ attribute: "metadata", path: "env" }, "new"],
    ] as const) {
      expect([...(await statsOf(target, {}, groupBy)).keys()]).toEqual([group]);
    }
  });
});
