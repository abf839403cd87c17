import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, inject, test } from "vitest";
import { readRun } from "../../src/tracing/ingest/decode/run-body.ts";
import { storeRuns } from "../../src/tracing/ingest/store-runs.ts";
import { shardStub } from "../../src/tracing/shard/shard-ref.ts";
import {
  counts,
  DAY_MS,
  END,
  letWait,
  NOON,
  statuses,
  type Waiting,
  waitingTrace,
} from "./pending-support.ts";
import { child, countIn, inShard, root, TestStore, updateOf } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const PAGE = {
  order: "asc",
  after: null,
  limit: 100,
  maxBytes: 1e6,
  payloads: [],
  effort: 1,
} as const;
const EXPORT = { columns: [], after: null, limit: 100, maxBytes: 1e6 } as const;

describe("creates of a request", () => {
  test("wait in one row, and are written with their updates", async ({ expect }) => {
    const { store, ref, runs } = await waitingTrace();
    expect(await counts(ref)).toEqual([0, 1]);
    const [top, step, model] = runs;
    await store.patch(updateOf(model, END), updateOf(step, END));
    expect(await counts(ref)).toEqual([2, 1]);
    await store.patch({ id: top.id, ...END });
    expect(await counts(ref)).toEqual([3, 0]);
    const found = await store.select();
    expect(found.map(({ run }) => [run.status, run.outputs_preview])).toEqual(
      runs.map(() => ["success", "an answer"]),
    );
  });

  test("keep their time of arrival until an update changes something", async ({ expect }) => {
    const { store, ref, runs } = await waitingTrace({ inputs: { a: 1 }, tags: ["a"] });
    await letWait(ref, 60_000);
    const [top, step] = runs;
    await store.patch(updateOf(top, { tags: ["a"] }), updateOf(step, { tags: ["b"] }));
    const [same, changed] = await Promise.all([store.run(top.id), store.run(step.id)]);
    const late = (run: { received_at: number; inserted_at: number }) =>
      run.received_at - run.inserted_at >= 60_000_000;
    // An update that only sets a field again counts, as the set of updated fields is stored, too.
    expect([late(same), late(changed)]).toEqual([true, true]);
    const again = await waitingTrace();
    await letWait(again.ref, 60_000);
    await again.store.post(again.runs[0]);
    expect(late(await again.store.run(again.runs[0].id))).toBe(false);
  });

  test.for([
    ["two", 2, [2, 0]],
    ["three", 3, [0, 1]],
  ] as const)(
    "wait only if there are at least three: %s",
    async ([, many, expected], { expect }) => {
      const store = new TestStore();
      await store.post(...Array.from({ length: many }, () => root({ start: NOON })));
      expect(await counts(await store.shardOn(NOON))).toEqual(expected);
    },
  );

  test("wait in several rows if they are too long for one", async ({ expect }) => {
    const store = new TestStore();
    const inputs = { text: "x".repeat(12_000) };
    const runs = Array.from({ length: 100 }, () => root({ start: NOON, inputs }));
    await store.post(...runs);
    const ref = await store.shardOn(NOON);
    expect(await counts(ref)).toEqual([0, 3]);
    await evictDurableObject(shardStub(env, ref));
    await store.patch(...runs.map((run) => updateOf(run, END)));
    expect(await counts(ref)).toEqual([100, 0]);
    expect((await store.select()).map(({ run }) => run.status)).toEqual(runs.map(() => "success"));
  });

  test.for([
    ["has ended", { end_time: "2026-03-01T12:00:01Z" }],
    ["has failed", { error: "broken" }],
    ["is long", { inputs: { text: "x".repeat(17_000) } }],
    ["is long as a waiting row", { inputs: { text: "\n".repeat(7_000) } }],
    ["is in R2", { inputs: { text: "x".repeat(70_000) } }],
    ["reports tokens", { outputs: { usage_metadata: { input_tokens: 1, output_tokens: 1 } } }],
    [
      "reports tokens in its metadata",
      { extra: { metadata: { usage_metadata: { input_tokens: 1, output_tokens: 1 } } } },
    ],
  ] as const)("do not wait if the run %s", async ([, fields], { expect }) => {
    const store = new TestStore();
    const runs = Array.from({ length: 4 }, () => root({ start: NOON }));
    await store.post({ ...root({ start: NOON }), ...fields }, ...runs);
    expect(await counts(await store.shardOn(NOON))).toEqual([1, 1]);
  });

  test("do not wait if the run has an attachment, whose object is deleted with it", async ({
    expect,
  }) => {
    const store = new TestStore();
    const runs = Array.from({ length: 4 }, () => root({ start: NOON }));
    const attachments = { photo: "a photo" };
    const creates = runs.map((body) => ({ kind: "post", body, attachments }) as const);
    await store.send(...creates);
    const ref = await store.shardOn(NOON);
    expect(await counts(ref)).toEqual([4, 0]);
    await shardStub(env, ref).destroy(ref);
    expect(await store.objects()).toEqual([]);
  });

  test("do not wait if the name of a reported value is escaped", async ({ expect }) => {
    const store = new TestStore();
    const metadata = { usage_metadata: { input_tokens: 4, output_tokens: 1 } };
    const writes = Array.from({ length: 3 }, () => {
      const run = root({ start: NOON, extra: { metadata } });
      const write = readRun("post", run, { identity: "required" });
      const json = JSON.stringify({ metadata }).replace("usage_", String.raw`usage\u005f`);
      return { ...write, payloads: { ...write.payloads, extra: { json } } };
    });
    await storeRuns(env, store.workspaceId, writes, () => undefined);
    expect(await counts(await store.shardOn(NOON))).toEqual([3, 0]);
  });

  test("do not wait if the trace has several days, of which other shards are told", async ({
    expect,
  }) => {
    const store = new TestStore();
    const top = root({ start: new Date(NOON.getTime() - DAY_MS) });
    const steps = Array.from({ length: 4 }, () => child(top, { start: NOON }));
    await store.post(...steps);
    expect(await counts(await store.shardOn(NOON))).toEqual([4, 0]);
  });

  test("do not wait if the run exists, or is updated by the same request", async ({ expect }) => {
    const store = new TestStore();
    const runs = Array.from({ length: 3 }, () => root({ start: NOON }));
    const [first] = runs;
    if (first === undefined) throw new Error("there are three");
    await store.post(first);
    await store.post(...runs, ...[1, 2].map(() => root({ start: NOON })));
    const ref = await store.shardOn(NOON);
    expect(await counts(ref)).toEqual([1, 1]);
    const more = Array.from({ length: 4 }, () => root({ start: NOON }));
    const [ended] = more;
    await store.send(...more.map((body) => ({ kind: "post", body }) as const), {
      kind: "patch",
      body: { id: ended?.id, ...END },
    });
    expect(await counts(ref)).toEqual([2, 2]);
    expect(await store.run(ended?.id ?? "")).toMatchObject({ status: "success", name: "a run" });
  });
});

describe("a waiting run", () => {
  /** The readers of a shard, with the expected result for the trace. */
  const readers: [string, (given: Waiting) => Promise<unknown>, unknown][] = [
    ["pages", async ({ ref }) => (await shardStub(env, ref).page({}, PAGE)).runs.length, 3],
    ["exports", async ({ ref }) => (await shardStub(env, ref).exportPage({}, EXPORT)).runs.rows, 3],
    [
      "statistics",
      async ({ ref }) => {
        const query = {
          groupBy: null,
          measures: [],
          details: false,
          feedback: false,
          facets: false,
        };
        const { rows } = await shardStub(env, ref).stats({}, { ...query, maxGroups: 10 }, null);
        return rows.map(({ totals }) => totals.runs);
      },
      [3],
    ],
    ["threads", async ({ ref }) => (await shardStub(env, ref).threads({}, null)).rows.length, 1],
    [
      "counts of metadata",
      async ({ ref }) =>
        (await shardStub(env, ref).metadataCounts({}, ["thread_id"], null)).rows.length,
      1,
    ],
    [
      "filters of a trace",
      async ({ ref, runs }) =>
        shardStub(env, ref)
          .matchingTraces("trace", 'eq(name, "top")', [runs[0].id])
          .then((ids) => ids.length),
      1,
    ],
    [
      "feedback",
      async ({ ref, runs }) => {
        const row = { id: crypto.randomUUID(), runId: runs[1].id, key: "k", score: 1, value: null };
        const more = {
          comment: null,
          source: "api",
          error: false,
          extendRetention: true,
          createdAt: 1,
        };
        const { runs: found } = await shardStub(env, ref).putFeedback(ref, [{ ...row, ...more }]);
        return found.length;
      },
      1,
    ],
    [
      "totals of another day",
      async ({ store, ref, runs }) => {
        const usage = { usage_metadata: { input_tokens: 3, output_tokens: 4 } };
        const later = new Date(NOON.getTime() + DAY_MS);
        await store.post(child(runs[1], { start: later, run_type: "llm", outputs: usage }));
        await store.settle();
        return (await store.run(runs[0].id)).total_tokens + (await counts(ref))[0];
      },
      7 + 3,
    ],
    ["parts of traces", async ({ ref }) => (await shardStub(env, ref).splitTraces()).length, 0],
    [
      "other days of a trace",
      async ({ ref, runs }) => (await shardStub(env, ref).otherDaysOf(runs[0].id)).length,
      0,
    ],
  ];

  test.for(readers)("is visible to %s", async ([, read, expected], { expect }) => {
    const waiting = await waitingTrace({ extra: { metadata: { thread_id: "t" } } });
    expect(await counts(waiting.ref)).toEqual([0, 1]);
    expect(await read(waiting)).toEqual(expected);
    expect(await counts(waiting.ref)).toEqual([3, 0]);
  });

  test("is visible to readers after the shard was opened again, and to updates", async ({
    expect,
  }) => {
    const { store, ref, runs } = await waitingTrace();
    const [top, step, model] = runs;
    await evictDurableObject(shardStub(env, ref));
    expect(await store.patch({ id: model.id, ...END })).toEqual([]);
    expect(await counts(ref)).toEqual([1, 1]);
    await evictDurableObject(shardStub(env, ref));
    await store.patch(updateOf(step, END));
    expect(await counts(ref)).toEqual([2, 1]);
    await evictDurableObject(shardStub(env, ref));
    expect(await statuses(store)).toEqual({
      [top.id]: "pending",
      [step.id]: "success",
      [model.id]: "success",
    });
    expect(await counts(ref)).toEqual([3, 0]);
  });

  test.for([["in memory"], ["that was opened again"]] as const)(
    "has the totals of its descendants, in a shard %s",
    async ([how], { expect }) => {
      const { store, ref, runs } = await waitingTrace();
      const [top, step, model] = runs;
      const usage = { usage_metadata: { input_tokens: 3, output_tokens: 4 } };
      await store.patch(updateOf(model, { ...END, outputs: usage }));
      expect(await countIn(ref, "expected_parents")).toBe(0);
      if (how !== "in memory") await evictDurableObject(shardStub(env, ref));
      await store.patch(updateOf(top, END));
      await store.patch(updateOf(step, END));
      expect(await counts(ref)).toEqual([3, 0]);
      expect((await store.select()).map(({ run }) => run.total_tokens)).toEqual([7, 7, 7]);
    },
  );

  test("is found as the parent of a run without a position", async ({ expect }) => {
    const { store, ref, runs } = await waitingTrace();
    const [top] = runs;
    const below = {
      id: crypto.randomUUID(),
      name: "below",
      run_type: "tool",
      parent_run_id: runs[2].id,
    };
    expect(
      await store.post({
        ...below,
        start_time: NOON.toISOString(),
        session_name: top.session_name,
      }),
    ).toEqual([]);
    expect(await counts(ref)).toEqual([4, 0]);
    expect(await store.run(below.id)).toMatchObject({ trace_id: top.id });
  });

  test("is removed if a release without waiting runs has written it", async ({ expect }) => {
    const { store, ref } = await waitingTrace();
    const copied = await inShard(ref, (sql) => sql.exec("SELECT * FROM pending_writes").one());
    expect(await store.ids()).toHaveLength(3);
    await inShard(ref, (sql) =>
      sql.exec("INSERT INTO pending_writes VALUES (?, ?, ?)", ...Object.values(copied)).toArray(),
    );
    await evictDurableObject(shardStub(env, ref));
    expect(await store.ids()).toHaveLength(3);
    expect(await counts(ref)).toEqual([3, 0]);
  });

  test("reports its totals to another day when it is settled, if the runs above it are of that day", async ({
    expect,
  }) => {
    const store = new TestStore();
    const top = root({ start: new Date(NOON.getTime() - DAY_MS) });
    const step = child(top, { start: NOON });
    // It claims that its parent is in another trace.
    const elsewhere = child(root({ start: NOON }), { start: NOON, id: step.id });
    const below = child(elsewhere, { start: NOON });
    const usage = { usage_metadata: { input_tokens: 3, output_tokens: 4 } };
    await store.post(top, step);
    await store.post(below, root({ start: NOON }), root({ start: NOON }));
    const ref = await store.shardOn(NOON);
    expect(await counts(ref)).toEqual([1, 1]);
    await store.post(child(below, { start: NOON, run_type: "llm", outputs: usage }));
    await shardStub(env, ref).page({}, PAGE);
    expect(await counts(ref)).toEqual([5, 0]);
    await store.settle();
    expect(await store.run(top.id)).toMatchObject({ total_tokens: 7 });
  });

  test("is not changed by a failing request, of which nothing is stored", async ({ expect }) => {
    const { store, ref, runs } = await waitingTrace();
    const [top, step, model] = runs;
    const write = (kind: "post" | "patch", body: object) =>
      readRun(kind, body, { identity: "required" });
    const others = Array.from({ length: 4 }, () => write("post", root({ start: NOON })));
    const broken = {
      ...write("patch", updateOf(step, END)),
      endTime: "never" as unknown as number,
    };
    const failing = [...others, write("patch", updateOf(top, END)), broken];
    const failed = async () => shardStub(env, ref).write(ref, failing, "shortlived");
    await expect(failed()).rejects.toThrow("cannot store");
    expect(await counts(ref)).toEqual([0, 1]);
    await store.patch(updateOf(model, END));
    expect(await statuses(store)).toEqual({
      [top.id]: "pending",
      [step.id]: "pending",
      [model.id]: "success",
    });
  });
});
