import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, inject, test, vi } from "vitest";
import { dayOf } from "../../src/lib/utc-day.ts";
import { selectProject } from "../../src/db/projects-repo.ts";
import { readRunsForExport } from "../../src/tracing/export.ts";
import { readRun } from "../../src/tracing/ingest/decode/run-body.ts";
import { forgetProject } from "../../src/tracing/projects/project-cache.ts";
import { ALL_RUNS } from "../../src/tracing/shard/shard-stats.ts";
import { collectStats } from "../../src/tracing/query/run-stats.ts";
import { bucketOf, RAISE_AHEAD_MICROS, readBucketPlan } from "../../src/tracing/shard/buckets.ts";
import { raiseBuckets } from "../../src/tracing/shard/shard-settings.ts";
import { shardStub } from "../../src/tracing/shard/shard-ref.ts";
import { unpackRuns } from "../support/columnar-runs.ts";
import type { RunData } from "../support/trace-data.ts";
import { child, root, TestStore, updateOf } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));
afterEach(() => {
  vi.useRealTimers();
});

const EVENING = Date.parse("2026-03-01T23:58:00Z");
const MINUTE_MS = 60_000;
/** Traces that start from here on are spread. */
const CHANGE = EVENING + MINUTE_MS;

async function planOf(store: TestStore) {
  const project = await selectProject(env.DB, store.workspaceId, await store.projectId());
  if (project === undefined) throw new Error("the project is gone");
  return readBucketPlan(project);
}

async function raise(store: TestStore, load: number, now: number): Promise<boolean> {
  const projectId = await store.projectId();
  const { workspaceId } = store;
  const raised = await raiseBuckets(env.DB, { workspaceId, projectId }, load, now * 1000);
  forgetProject(workspaceId, { id: projectId });
  return raised;
}

/** Returns a trace of a root and two runs, the last of which is on the next day. */
function trace(index: number, start: number) {
  const name = index % 2 === 0 ? "even" : "odd";
  const extra = { metadata: { thread_id: `thread ${index % 5}` } };
  const top = root({ start: new Date(start), name, extra });
  const usage = { usage_metadata: { input_tokens: 3, output_tokens: 2 } };
  const step = child(top, { start: new Date(start + 1_000), name: "step" });
  const model = child(step, {
    start: new Date(EVENING + 3 * MINUTE_MS + index),
    name: "model",
    run_type: "llm",
    outputs: usage,
  });
  return { top, step, model };
}

type Trace = ReturnType<typeof trace>;

const runsOf = ({ top, step, model }: Trace): RunData[] => [top, step, model];

describe("a project whose buckets are raised in the middle of a day", () => {
  async function spreadOverChange() {
    const store = new TestStore();
    const before = Array.from({ length: 12 }, (_, index) => trace(index, EVENING + index * 1_000));
    const after = Array.from({ length: 12 }, (_, index) => trace(index, CHANGE + index * 1_000));
    // Most runs of some of the earlier traces come only after the change.
    await store.post(
      ...before.slice(0, 6).flatMap(runsOf),
      ...before.slice(6).map(({ top }) => top),
    );
    await raise(store, 3, CHANGE - RAISE_AHEAD_MICROS / 1000);
    await store.post(
      ...after.flatMap(runsOf),
      ...before.slice(6).flatMap(({ step, model }) => [step, model]),
    );
    const traces = [...before, ...after];
    await store.patch(
      ...traces.map(({ top }) =>
        updateOf(top, { end_time: new Date(CHANGE + MINUTE_MS).toISOString() }),
      ),
    );
    await store.settle();
    return { store, before, after, traces };
  }

  test("keeps each trace together, on each of its days", async ({ expect }) => {
    const { store, before, traces } = await spreadOverChange();
    const found = new Map((await store.select()).map(({ run, ref }) => [run.id, ref.bucket]));
    expect(found.size).toBe(traces.length * 3);
    for (const each of traces) {
      const buckets = runsOf(each).map(({ id }) => found.get(id));
      expect(new Set(buckets).size).toBe(1);
      if (before.includes(each)) expect(buckets[0]).toBe(0);
    }
    expect(new Set(found.values()).size).toBeGreaterThan(1);
    const { workspaceId } = store;
    const day = dayOf(EVENING * 1000);
    const plan = await planOf(store);
    for (const { top } of traces) {
      const bucket = bucketOf(plan, top.id, Date.parse(top.start_time) * 1000);
      expect(found.get(top.id)).toBe(bucket);
      const ref = { workspaceId, projectId: await store.projectId(), day, bucket };
      expect(await shardStub(env, ref).otherDaysOf(top.id)).toEqual([day + 1]);
    }
  });

  test("answers queries, statistics, trees and exports as before", async ({ expect }) => {
    const { store, traces } = await spreadOverChange();
    const inOrder = traces
      .flatMap(runsOf)
      .toSorted(
        (a, b) => Date.parse(a.start_time) - Date.parse(b.start_time) || (a.id < b.id ? -1 : 1),
      )
      .map(({ id }) => id);
    expect(await store.ids()).toEqual(inOrder);
    for (const name of ["even", "odd"]) {
      const ids = await store.ids({ traceFilter: `eq(name, "${name}")` });
      const expected = traces.filter(({ top }) => top.name === name).flatMap(runsOf);
      expect(new Set(ids)).toEqual(new Set(expected.map(({ id }) => id)));
    }
    for (const each of traces) {
      const runs = await store.select({ traceId: each.top.id });
      expect(runs.map(({ run }) => run.id)).toEqual(runsOf(each).map(({ id }) => id));
      // The model's run is on the next day, and its usage is reported to the shard of its root.
      expect(runs[0]?.run).toMatchObject({ total_tokens: 5, status: "success" });
      expect((await store.run(each.model.id)).name).toBe("model");
    }
    const stats = await collectStats(env, {
      workspaceId: store.workspaceId,
      projectIds: [await store.projectId()],
      selection: { isRoot: true },
      groupBy: null,
      query: { measures: [], details: false, feedback: false, facets: false },
    });
    expect(stats.get(ALL_RUNS)).toMatchObject({
      runs: traces.length,
      totalTokens: traces.length * 5,
    });
    const exported: (string | undefined)[] = [];
    for await (const { runs, from, to } of readRunsForExport(env, {
      workspaceId: store.workspaceId,
      projectId: await store.projectId(),
      filter: null,
      from: 0,
      to: Date.parse("2027-01-01") * 1000,
      after: null,
      columns: ["id", "start_time"],
    })) {
      exported.push(...unpackRuns(runs, from, to).map(({ id }) => String(id)));
    }
    expect(exported).toEqual(inOrder);
  });
});

describe("raising buckets", () => {
  test("is done once for concurrent shards, and not for a deleted project", async ({ expect }) => {
    const store = new TestStore();
    await store.projectId();
    const asked = await Promise.all(Array.from({ length: 5 }, () => raise(store, 3, EVENING)));
    expect(asked.filter(Boolean)).toHaveLength(1);
    expect((await planOf(store)).raises).toEqual([
      { from: EVENING * 1000 + RAISE_AHEAD_MICROS, buckets: 4 },
    ]);
    const ref = { workspaceId: store.workspaceId, projectId: crypto.randomUUID() };
    expect(await raiseBuckets(env.DB, ref, 3, EVENING * 1000)).toBe(false);
    expect(
      await raiseBuckets(
        env.DB,
        { ...ref, projectId: await store.projectId(), workspaceId: "other" },
        9,
        0,
      ),
    ).toBe(false);
  });

  test("is requested by an overloaded shard of the current day", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: EVENING });
    for (const [start, expected] of [
      [EVENING, [{ from: (EVENING + 6_000) * 1000 + RAISE_AHEAD_MICROS, buckets: 2 }]],
      [EVENING - 86_400_000, []],
    ] as const) {
      vi.setSystemTime(EVENING);
      const store = new TestStore();
      const ref = await store.shardOn(new Date(start));
      const run = root({ start: new Date(start) });
      const write = readRun("post", run, { identity: "required" });
      const many = Array.from({ length: 15_000 }, () => write);
      await shardStub(env, ref).write(ref, many, "shortlived");
      expect((await planOf(store)).raises).toEqual([]);
      vi.setSystemTime(EVENING + 6_000);
      await shardStub(env, ref).write(ref, [write], "shortlived");
      if (expected.length > 0) {
        await vi.waitUntil(async () => (await planOf(store)).raises.length > 0, {
          timeout: 150_000,
        });
      }
      expect((await planOf(store)).raises).toEqual(expected);
    }
  });
});
