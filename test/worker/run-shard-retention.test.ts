import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { assert, beforeAll, describe, inject, test, vi } from "vitest";
import { markProjectsDeleted } from "../../src/db/projects-repo.ts";
import { parseFeedbackBody } from "../../src/tracing/api/v1/feedback/feedback-body.ts";
import { feedbackDeps } from "../../src/tracing/feedback/feedback-shards.ts";
import { recordFeedback } from "../../src/tracing/feedback/record-feedback.ts";
import { readRun } from "../../src/tracing/ingest/decode/run-body.ts";
import { uploadPayloads } from "../../src/tracing/ingest/store-runs.ts";
import { indexRuns } from "../../src/tracing/run-index/locate.ts";
import { forgetProject } from "../../src/tracing/projects/project-cache.ts";
import { type ShardRef, shardStub } from "../../src/tracing/shard/shard-ref.ts";
import { sweepTracing } from "../../src/tracing/sweep.ts";
import {
  child,
  countIn,
  inShard,
  payloadText,
  root,
  runAlarms,
  tablesIn,
  TestStore,
  updateOf,
} from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const NOON = new Date("2026-03-01T12:00:00Z");
const DAY_MS = 86_400_000;
/** As in `wrangler.toml`. */
const SHORT_DAYS = 14;
const LONG_DAYS = 400;
const LARGE = "x".repeat(70_000);

async function giveFeedback({ workspaceId }: TestStore, body: object): Promise<void> {
  const input = parseFeedbackBody({ key: "k", score: 1, ...body });
  const [outcome] = await recordFeedback(feedbackDeps(env), workspaceId, [input]);
  assert(outcome?.ok);
}

async function feedbackCount({ workspaceId }: TestStore): Promise<number> {
  const row = await env.DB.prepare("SELECT count(*) AS n FROM feedback WHERE workspace_id = ?")
    .bind(workspaceId)
    .first<{ n: number }>();
  return row?.n ?? 0;
}

/** Sets the clock of some traces of a shard back, and runs its alarm after an eviction. */
async function passDays(ref: ShardRef, days: number, traceIds?: string[]): Promise<void> {
  const among = traceIds === undefined ? "" : "WHERE trace_id IN (SELECT value FROM json_each(?))";
  await inShard(ref, (sql) =>
    sql
      .exec(
        `UPDATE traces SET first_received_at = first_received_at - ${days * DAY_MS * 1000} ${among}`,
        ...(traceIds === undefined ? [] : [JSON.stringify(traceIds)]),
      )
      .toArray(),
  );
  await evictDurableObject(shardStub(env, ref));
  await runAlarms([ref]);
}

async function setTier(store: TestStore, tier: string): Promise<void> {
  const id = await store.projectId();
  await env.DB.prepare("UPDATE projects SET trace_tier = ? WHERE id = ?").bind(tier, id).run();
  forgetProject(store.workspaceId, { id });
}

const ALL_TABLES = [
  "runs",
  "long_payloads",
  "feedback",
  "traces",
  "trace_parts",
  "foreign_children",
  "outbox",
  "garbage",
];

async function rowCounts(ref: ShardRef): Promise<Record<string, number>> {
  const counts = await Promise.all(ALL_TABLES.map((table) => countIn(ref, table)));
  return Object.fromEntries(ALL_TABLES.map((table, index) => [table, counts[index] ?? 0]));
}

describe("a shard whose traces have expired", () => {
  test("is deleted with everything that belongs to it", async ({ expect }) => {
    const store = new TestStore();
    const run = root({ start: NOON, inputs: { text: LARGE }, tags: ["a"] });
    const below = child(run, { start: NOON, outputs: { text: LARGE } });
    await store.send(
      { kind: "post", body: run, attachments: { photo: "a photo" } },
      { kind: "post", body: below },
    );
    await giveFeedback(store, { run_id: below.id, extend_trace_retention: false });
    expect([(await store.objects()).length, await feedbackCount(store)]).toEqual([3, 1]);
    const [shard] = await store.shards();
    assert(shard !== undefined);

    await passDays(shard, SHORT_DAYS - 1);
    expect(await store.ids()).toHaveLength(2);
    await passDays(shard, 1);
    expect(await store.ids()).toEqual([]);
    expect(await store.shards()).toEqual([]);
    expect(await tablesIn(shard)).toEqual([]);
    expect([await store.objects(), await feedbackCount(store)]).toEqual([[], 0]);
    expect(await inShard(shard, (_, storage) => storage.getAlarm())).toBeNull();
  });

  test("starts again when it gets another run", async ({ expect }) => {
    const store = new TestStore();
    const [first, second] = [root({ start: NOON }), root({ start: NOON })];
    await store.post(first);
    const [shard] = await store.shards();
    assert(shard !== undefined);
    await passDays(shard, SHORT_DAYS);
    await store.post(second);
    expect(await store.ids()).toEqual([second.id]);
    expect(await store.shards()).toEqual([shard]);
    expect(await store.patch({ id: first.id, outputs: {} })).toMatchObject([{ status: 404 }]);
    await store.patch(updateOf(first, { name: "again" }));
    expect(await store.run(first.id)).toMatchObject({ name: "again", trace_tier: "shortlived" });
  });
});

test("a shard that is deleted does not lose runs that arrive meanwhile", async ({ expect }) => {
  const store = new TestStore();
  await store.post(root({ start: NOON, inputs: { text: LARGE } }));
  const [shard] = await store.shards();
  assert(shard !== undefined);
  const stub = shardStub(env, shard);
  for (let round = 0; round < 5; round += 1) {
    const runs = Array.from({ length: 20 }, () => root({ start: NOON }));
    await Promise.all([
      stub.destroy(shard),
      ...runs.map((run) =>
        stub.write(shard, [readRun("post", run, { identity: "required" })], "shortlived"),
      ),
    ]);
    expect(await store.ids()).toEqual(runs.map(({ id }) => id));
    expect(await store.shards()).toEqual([shard]);
  }
});

test("a payload survives a shard's deletion between its upload and its write", async ({
  expect,
}) => {
  const store = new TestStore();
  await store.post(root({ start: NOON, inputs: { text: LARGE } }));
  const [shard] = await store.shards();
  assert(shard !== undefined);
  const [first] = await store.objects();
  const run = root({ start: NOON, inputs: { text: LARGE } });
  const uploaded = await uploadPayloads(env, shard, [
    readRun("post", run, { identity: "required" }),
  ]);
  await passDays(shard, SHORT_DAYS);
  expect(await store.shards()).toEqual([]);
  expect(await store.objects()).not.toContain(first);
  await (
    await indexRuns(env, store.workspaceId, [{ id: run.id, ...shard }])
  ).kept;
  await shardStub(env, shard).write(shard, uploaded, "shortlived");
  expect(await payloadText(await store.run(run.id), "inputs")).toBe(
    JSON.stringify({ text: LARGE }),
  );
});

describe("traces of one shard", () => {
  test("expire separately", async ({ expect }) => {
    const store = new TestStore();
    const runOf = (name: string) =>
      root({
        start: NOON,
        name,
        tags: [name],
        inputs: { text: LARGE },
        extra: { metadata: { name }, long: "x".repeat(20_000) },
      });
    const [due, young, praised] = [runOf("due"), runOf("young"), runOf("praised")];
    await store.post(due, child(due, { start: NOON }), young, praised);
    await giveFeedback(store, { run_id: praised.id });
    await giveFeedback(store, { run_id: due.id, extend_trace_retention: false });
    const [shard] = await store.shards();
    assert(shard !== undefined);
    await passDays(shard, SHORT_DAYS, [due.id, praised.id]);
    expect(await store.ids()).toEqual([young.id, praised.id]);
    expect(await rowCounts(shard)).toMatchObject({
      runs: 2,
      long_payloads: 2,
      feedback: 1,
      traces: 2,
      garbage: 0,
    });
    expect([(await store.objects()).length, await feedbackCount(store)]).toEqual([2, 1]);
    expect(await store.shards()).toEqual([shard]);

    const next = root({ start: NOON });
    await passDays(shard, SHORT_DAYS, [young.id]);
    await evictDurableObject(shardStub(env, shard));
    await store.post(next);
    expect(await store.ids({ filter: 'has(tags, "young")' })).toEqual([]);
    expect(await store.ids({ filter: 'eq(metadata_key, "name")' })).toEqual([praised.id]);

    await passDays(shard, LONG_DAYS - SHORT_DAYS, [praised.id]);
    expect(await store.ids()).toEqual([next.id]);
    expect(await feedbackCount(store)).toBe(0);
  });

  test("of a long-lived project are kept for the long retention", async ({ expect }) => {
    const store = new TestStore();
    const early = root({ start: NOON });
    await store.post(early);
    await setTier(store, "longlived");
    const late = root({ start: NOON });
    await store.post(late);
    await store.patch(updateOf(early, { outputs: {} }));
    expect(await store.run(early.id)).toMatchObject({ trace_tier: "shortlived" });
    expect(await store.run(late.id)).toMatchObject({ trace_tier: "longlived" });
    const [shard] = await store.shards();
    assert(shard !== undefined);
    await passDays(shard, SHORT_DAYS);
    expect(await store.ids()).toEqual([late.id]);
    await passDays(shard, LONG_DAYS - SHORT_DAYS);
    expect(await store.shards()).toEqual([]);
  });

  test("expire by the alarm that is set for the first of them", async ({ expect }) => {
    const store = new TestStore();
    const begun = Date.now();
    await setTier(store, "longlived");
    await store.post(root({ start: NOON }));
    const [shard] = await store.shards();
    assert(shard !== undefined);
    /** Expects the alarm `days` after a moment of this test. */
    const expectAlarmAfter = async (days: number): Promise<void> => {
      const alarm = (await inShard(shard, (_, storage) => storage.getAlarm())) ?? 0;
      expect(alarm - days * DAY_MS).toBeGreaterThanOrEqual(begun);
      expect(alarm - days * DAY_MS).toBeLessThanOrEqual(Date.now());
    };
    await expectAlarmAfter(LONG_DAYS);
    await setTier(store, "shortlived");
    await store.post(root({ start: NOON }));
    await expectAlarmAfter(SHORT_DAYS);
    await setTier(store, "longlived");
    await store.post(root({ start: NOON }));
    await expectAlarmAfter(SHORT_DAYS);
  });

  test("are all deleted, even if there are more than fit into one step", async ({ expect }) => {
    const store = new TestStore();
    await store.post(...Array.from({ length: 450 }, () => root({ start: NOON })));
    const [shard] = await store.shards();
    assert(shard !== undefined);
    await passDays(shard, SHORT_DAYS);
    await vi.waitUntil(async () => (await store.shards()).length === 0, { timeout: 150_000 });
    expect(await tablesIn(shard)).toEqual([]);
  });
});

test("feedback is deleted with its trace, even if the database fails first", async ({ expect }) => {
  const store = new TestStore();
  const run = root({ start: NOON });
  await store.post(run);
  await giveFeedback(store, { run_id: run.id, extend_trace_retention: false });
  const [shard] = await store.shards();
  assert(shard !== undefined);
  await env.DB.exec("ALTER TABLE feedback RENAME TO feedback_away");
  await passDays(shard, SHORT_DAYS);
  await env.DB.exec("ALTER TABLE feedback_away RENAME TO feedback");
  expect([await feedbackCount(store), await store.ids()]).toEqual([1, [run.id]]);
  // The alarm is set again after any number of failures.
  await passDays(shard, 0);
  expect([await feedbackCount(store), await store.ids()]).toEqual([0, []]);
  expect(await store.shards()).toEqual([]);
});

describe("a deleted project", () => {
  async function markDeleted(store: TestStore): Promise<string> {
    const id = await store.projectId();
    await markProjectsDeleted(env.DB, store.workspaceId, [id], Date.now());
    forgetProject(store.workspaceId, { id });
    return id;
  }

  test("is deleted with its shards, payloads, attachments and feedback", async ({ expect }) => {
    const store = new TestStore();
    const run = root({ start: NOON, inputs: { text: LARGE } });
    const part = child(run, { start: new Date(NOON.getTime() + DAY_MS) });
    await store.send(
      { kind: "post", body: run, attachments: { photo: "a photo" } },
      { kind: "post", body: part, attachments: { photo: "another" } },
    );
    await giveFeedback(store, { run_id: part.id });
    await giveFeedback(store, { session_id: await store.projectId() });
    await store.settle();
    const shards = await store.shards();
    expect(shards).toHaveLength(2);
    const id = await markDeleted(store);
    expect(await store.ids()).toEqual([]);
    await sweepTracing(env, Date.now());
    for (const shard of shards) expect(await tablesIn(shard)).toEqual([]);
    expect(await store.objects()).toEqual([]);
    expect(await feedbackCount(store)).toBe(0);
    const tables = ["projects", "run_shards"];
    for (const table of tables) {
      const column = table === "projects" ? "id" : "project_id";
      const left = await env.DB.prepare(`SELECT 1 FROM ${table} WHERE ${column} = ?`)
        .bind(id)
        .all();
      expect(left.results).toEqual([]);
    }
  });

  test("frees its name at once for a new project, which may have the same runs", async ({
    expect,
  }) => {
    const store = new TestStore();
    const run = root({ start: NOON, inputs: { a: 1 } });
    await store.post(run);
    const old = await markDeleted(store);
    await store.post({ ...run, name: "again" });
    const next = await store.projectId();
    expect(next).not.toBe(old);
    await sweepTracing(env, Date.now());
    const found = await store.select();
    expect(found.map(({ run, ref }) => [run.name, ref.projectId])).toEqual([["again", next]]);
    await store.patch({ id: run.id, outputs: { b: 2 } });
    expect(await store.run(run.id)).toMatchObject({ outputs_preview: '{"b":2}' });
  });

  test("does not lose runs that are sent to a new one while it is being deleted", async ({
    expect,
  }) => {
    const store = new TestStore();
    const days = [0, 1, 2].map((n) => new Date(NOON.getTime() + n * DAY_MS));
    const large = () => days.map((start) => root({ start, inputs: { text: LARGE } }));
    await store.post(...large(), ...large());
    const old = await markDeleted(store);
    const sent: string[] = [];
    const sending = Array.from({ length: 12 }, async (_, index) => {
      const runs = large();
      await new Promise((resolve) => setTimeout(resolve, index * 4));
      expect(await store.post(...runs)).toEqual([]);
      sent.push(...runs.map(({ id }) => id));
    });
    await Promise.all([sweepTracing(env, Date.now()), ...sending]);
    await sweepTracing(env, Date.now());
    expect((await store.ids()).toSorted()).toEqual(sent.toSorted());
    expect(new Set((await store.shards()).map(({ projectId }) => projectId))).toEqual(
      new Set([await store.projectId()]),
    );
    expect(await store.projectId()).not.toBe(old);
    expect(await store.objects()).toHaveLength(sent.length);
  });
});
