import { env } from "cloudflare:workers";
import { assert, beforeAll, describe, inject, test, vi } from "vitest";
import { evictDurableObject } from "cloudflare:test";
import { dayOf } from "../../src/lib/utc-day.ts";
import { feedbackDeps } from "../../src/tracing/feedback/feedback-shards.ts";
import { parseFeedbackBody } from "../../src/tracing/api/v1/feedback/feedback-body.ts";
import { recordFeedback } from "../../src/tracing/feedback/record-feedback.ts";
import { collectStats } from "../../src/tracing/query/run-stats.ts";
import { findThreadTotals } from "../../src/tracing/query/threads.ts";
import { ALL_RUNS } from "../../src/tracing/shard/shard-stats.ts";
import { type ShardRef, shardStub } from "../../src/tracing/shard/shard-ref.ts";
import type { RunData } from "../support/trace-data.ts";
import {
  child,
  countIn,
  inShard,
  root,
  runAlarms,
  TestStore,
  updateOf,
} from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const BEFORE_MIDNIGHT = new Date("2026-03-01T23:59:59.999Z");
const AFTER_MIDNIGHT = new Date("2026-03-02T00:00:00Z");
const DAY_LATER = new Date("2026-03-03T06:00:00Z");

const usage = (total: number) => ({ usage_metadata: { input_tokens: total, total_cost: total } });

type Trace = { top: RunData; step: RunData; model: RunData; last: RunData };

/** Returns a trace over three days: top > step (next day) > model (the day after), and top > last. */
function threeDays(): Trace {
  const top = root({
    start: BEFORE_MIDNIGHT,
    name: "top",
    extra: { metadata: { thread_id: "t" } },
  });
  const step = child(top, { start: AFTER_MIDNIGHT, name: "step" });
  const model = child(step, {
    start: DAY_LATER,
    name: "model",
    run_type: "llm",
    outputs: usage(3),
  });
  const last = child(top, {
    start: DAY_LATER,
    name: "last",
    run_type: "tool",
    outputs: usage(4),
    error: "broken",
  });
  return { top, step, model, last };
}

async function sent(order: (keyof Trace)[], buckets = 1): Promise<[TestStore, Trace]> {
  const store = new TestStore();
  await store.spread("p", buckets);
  const trace = threeDays();
  for (const name of order) await store.post(trace[name]);
  await store.settle();
  return [store, trace];
}

async function names(found: Promise<string[]>, trace: Trace): Promise<string[]> {
  const byId = new Map(Object.entries(trace).map(([name, { id }]) => [id, name]));
  return (await found).map((id) => byId.get(id) ?? id).toSorted();
}

async function giveFeedback({ workspaceId }: TestStore, run_id: string): Promise<void> {
  const input = parseFeedbackBody({ run_id, key: "k", score: 1 });
  const [outcome] = await recordFeedback(feedbackDeps(env), workspaceId, [input]);
  assert(outcome?.ok);
}

const DAY = dayOf(BEFORE_MIDNIGHT.getTime() * 1000);

describe.for<[title: string, order: (keyof Trace)[], buckets: number]>([
  ["in order", ["top", "step", "model", "last"], 1],
  ["backwards", ["last", "model", "step", "top"], 1],
  ["root in the middle, in a project of several shards a day", ["model", "top", "last", "step"], 5],
])("a trace over three days, sent %s", ([, order, buckets]) => {
  test("has each run in the shard of its own day", async ({ expect }) => {
    const [store, { top, step, model, last }] = await sent(order, buckets);
    const days = (await store.select()).map(({ run, ref }) => [run.id, ref.day]);
    expect(days).toEqual([
      [top.id, DAY],
      [step.id, DAY + 1],
      ...[model.id, last.id].toSorted().map((id) => [id, DAY + 2]),
    ]);
    const shards = await store.shards();
    expect(shards.map(({ day }) => day)).toEqual([DAY, DAY + 1, DAY + 2]);
    expect(new Set(shards.map(({ bucket }) => bucket)).size).toBe(1);
    expect(await Promise.all(shards.map((ref) => countIn(ref, "runs")))).toEqual([1, 1, 2]);
  });

  test("is found by its id, by days, and by the parents of its runs", async ({ expect }) => {
    const [store, trace] = await sent(order, buckets);
    const { top, step } = trace;
    expect(await store.ids({ traceId: top.id })).toHaveLength(4);
    expect(await names(store.ids({ parentRunId: top.id }), trace)).toEqual(["last", "step"]);
    expect(await names(store.ids({ parentRunId: step.id }), trace)).toEqual(["model"]);
    const [from, to] = [AFTER_MIDNIGHT.getTime() * 1000, DAY_LATER.getTime() * 1000 - 1];
    expect(await names(store.ids({ from, to }), trace)).toEqual(["step"]);
    expect(await names(store.ids({ from, traceId: top.id }), trace)).toEqual([
      "last",
      "model",
      "step",
    ]);
  });

  test.for<[text: string, trace: string[], tree: string[]]>([
    ['eq(name, "top")', ["last", "model", "step", "top"], ["last", "model", "step", "top"]],
    ['eq(name, "step")', [], ["last", "model", "step", "top"]],
    ['eq(name, "model")', [], ["last", "model", "step", "top"]],
    ['eq(status, "error")', [], ["last", "model", "step", "top"]],
    ['eq(name, "nobody")', [], []],
    ["gt(total_tokens, 6)", ["last", "model", "step", "top"], ["last", "model", "step", "top"]],
  ])(
    "answers filters of its root and of its runs: %s",
    async ([text, byRoot, byAny], { expect }) => {
      const [store, trace] = await sent(order, buckets);
      await store.post(root({ start: AFTER_MIDNIGHT, name: "somebody else" }));
      expect(await names(store.ids({ traceFilter: text }), trace)).toEqual(byRoot);
      expect(await names(store.ids({ treeFilter: text }), trace)).toEqual(byAny);
      const isRoot = byAny.length > 0 ? ["top"] : [];
      expect(await names(store.ids({ treeFilter: text, isRoot: true }), trace)).toEqual(isRoot);
      const onLastDay = byAny.filter((name) => name === "model" || name === "last");
      const from = DAY_LATER.getTime() * 1000;
      expect(await names(store.ids({ treeFilter: text, from }), trace)).toEqual(onLastDay);
      const leaves = byRoot.filter((name) => name === "model");
      const filter = 'eq(name, "model")';
      expect(await names(store.ids({ traceFilter: text, filter }), trace)).toEqual(leaves);
    },
  );

  test("has its totals at the root, from the latest values", async ({ expect }) => {
    const [store, { top, step, model }] = await sent(order, buckets);
    const totals = async (run: RunData) => {
      const { total_tokens, total_cost } = await store.run(run.id);
      return [total_tokens, total_cost];
    };
    expect([await totals(top), await totals(step)]).toEqual([
      [7, 7e12],
      [3, 3e12],
    ]);
    await store.patch(updateOf(model, { outputs: usage(13) }));
    await vi.waitFor(async () => expect(await totals(top)).toEqual([17, 17e12]), 150_000);
    await store.patch(updateOf(step, { outputs: usage(100) }));
    await vi.waitFor(async () => expect(await totals(top)).toEqual([117, 117e12]), 150_000);
    await store.patch(updateOf(model, { outputs: {} }));
    await vi.waitFor(async () => expect(await totals(top)).toEqual([104, 104e12]), 150_000);
  });

  test.for(["top", "step", "model"] as const)(
    "has the long retention everywhere after feedback on its run %s",
    async (part, { expect }) => {
      const [store, trace] = await sent(order, buckets);
      await store.post(root({ start: BEFORE_MIDNIGHT }));
      await giveFeedback(store, trace[part].id);
      await vi.waitFor(async () => {
        const kept = (await store.select({ traceId: trace.top.id })).map(
          ({ run }) => run.trace_tier,
        );
        expect(kept).toEqual(["longlived", "longlived", "longlived", "longlived"]);
      }, 60_000);
      const late = child(trace.top, { start: new Date("2026-03-04T00:00:00Z") });
      await store.post(late);
      await vi.waitFor(
        async () => expect((await store.run(late.id)).trace_tier).toBe("longlived"),
        150_000,
      );
      const others = (await store.select()).filter(({ run }) => run.trace_id !== trace.top.id);
      expect(others.map(({ run }) => run.trace_tier)).toEqual(["shortlived"]);
    },
  );

  test("counts once in statistics and threads", async ({ expect }) => {
    const [store] = await sent(order, buckets);
    const projectIds = [await store.projectId()];
    const query = { measures: [], details: true, feedback: false, facets: false };
    const request = { workspaceId: store.workspaceId, projectIds, groupBy: null, query };
    const all = await collectStats(env, { ...request, selection: {} });
    expect(all.get(ALL_RUNS)).toMatchObject({ runs: 4, errors: 1, totalTokens: 17 });
    const roots = await collectStats(env, {
      ...request,
      selection: { isRoot: true, treeFilter: 'eq(name, "last")' },
    });
    expect(roots.get(ALL_RUNS)).toMatchObject({ runs: 1, errors: 0, totalTokens: 7 });
    const threads = await findThreadTotals(env, {
      workspaceId: store.workspaceId,
      projectIds,
      selection: {},
    });
    expect(threads).toMatchObject([{ threadId: "t", count: 1, totalTokens: 7 }]);
  });
});

describe("a part of a trace that came before its root", () => {
  async function partOnly(store: TestStore, outputs: object): Promise<[RunData, ShardRef]> {
    const top = root({ start: BEFORE_MIDNIGHT, name: "top" });
    const part = child(top, { start: AFTER_MIDNIGHT, run_type: "llm", outputs });
    await store.post(part);
    await store.settle();
    return [top, await store.shardOn(BEFORE_MIDNIGHT)];
  }

  test.for([
    ["with amounts", usage(3), 3],
    ["without amounts", {}, 0],
  ] as const)("is reported to the root's shard, %s", async ([, outputs, tokens], { expect }) => {
    const store = new TestStore();
    const [top, home] = await partOnly(store, outputs);
    // Shards without runs are not listed.
    expect((await store.shards()).map(({ day }) => day)).toEqual([DAY + 1]);
    await runAlarms([home]);
    await evictDurableObject(shardStub(env, home));
    await store.post(top);
    expect((await store.run(top.id)).total_tokens).toBe(tokens);
    expect(await store.ids({ traceId: top.id })).toHaveLength(2);
    expect(await store.ids({ traceFilter: 'eq(name, "top")' })).toHaveLength(2);
  });

  test("passes on that the trace has the long retention", async ({ expect }) => {
    const store = new TestStore();
    const [top] = await partOnly(store, {});
    const [part] = await store.select();
    assert(part !== undefined);
    await giveFeedback(store, part.run.id);
    await store.settle();
    await store.post(top);
    await store.settle();
    const found = await store.select();
    expect(found.map(({ run }) => run.trace_tier)).toEqual(["longlived", "longlived"]);
  });
});

test("undelivered messages are delivered by the alarm", async ({ expect }) => {
  const store = new TestStore();
  const top = root({ start: BEFORE_MIDNIGHT });
  const model = child(top, { start: AFTER_MIDNIGHT, run_type: "llm", outputs: usage(3) });
  await store.post(top);
  const [home] = await store.shards();
  assert(home !== undefined);
  // As long as the table is missing, every message to the root's shard fails.
  await inShard(home, (sql) => sql.exec("ALTER TABLE foreign_children RENAME TO lost").toArray());
  await store.post(model);
  const other = { ...home, day: home.day + 1 };
  await vi.waitUntil(async () => (await countIn(other, "outbox")) > 0, 60_000);
  expect((await store.run(top.id)).total_tokens).toBe(0);
  await inShard(home, (sql) => sql.exec("ALTER TABLE lost RENAME TO foreign_children").toArray());
  await evictDurableObject(shardStub(env, other));
  expect(await inShard(other, (_, storage) => storage.getAlarm())).not.toBeNull();
  await runAlarms([other]);
  expect(await countIn(other, "outbox")).toBe(0);
  expect((await store.run(top.id)).total_tokens).toBe(3);
});

test("a deleted trace leaves nothing on any of its days", async ({ expect }) => {
  const store = new TestStore();
  const trace = threeDays();
  const stays = root({ start: AFTER_MIDNIGHT });
  await store.post(...Object.values(trace), stays);
  await store.settle();
  await giveFeedback(store, trace.model.id);
  await store.settle();
  for (const ref of await store.shards()) {
    await shardStub(env, ref).deleteTraces(ref, [trace.top.id]);
  }
  await store.settle();
  expect(await store.ids()).toEqual([stays.id]);
  await runAlarms(await store.shards());
  expect((await store.shards()).map(({ day }) => day)).toEqual([DAY + 1]);
  const [left] = await store.shards();
  assert(left !== undefined);
  const tables = ["runs", "long_payloads", "feedback", "foreign_children", "trace_parts", "traces"];
  expect(await Promise.all(tables.map((table) => countIn(left, table)))).toEqual([
    1, 0, 0, 0, 0, 1,
  ]);
  const feedback = await env.DB.prepare("SELECT count(*) AS n FROM feedback WHERE workspace_id = ?")
    .bind(store.workspaceId)
    .first<{ n: number }>();
  expect(feedback?.n).toBe(0);
});
