import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { beforeAll, describe, inject, test } from "vitest";
import { WAIT_MS } from "../../src/tracing/shard/pending-runs.ts";
import { shardStub } from "../../src/tracing/shard/shard-ref.ts";
import { counts, DAY_MS, END, letWait, NOON, waitingTrace } from "./pending-support.ts";
import { inShard, root, runAlarms, TestStore, updateOf } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

describe("a deletion", () => {
  test("removes waiting runs of the trace, which do not reappear", async ({ expect }) => {
    const { store, ref, runs } = await waitingTrace();
    const others = Array.from({ length: 3 }, () => root({ start: NOON }));
    await store.post(...others);
    const [top, step] = runs;
    await store.patch(updateOf(step, END));
    expect(await counts(ref)).toEqual([1, 2]);
    await shardStub(env, ref).deleteTraces(ref, [top.id]);
    expect(await counts(ref)).toEqual([3, 0]);
    await evictDurableObject(shardStub(env, ref));
    expect((await store.ids()).toSorted()).toEqual(others.map(({ id }) => id).toSorted());
    expect(await store.patch({ id: top.id, ...END })).toMatchObject([{ status: 404 }]);
  });

  test("of a trace keeps others that wait in the same row", async ({ expect }) => {
    const store = new TestStore();
    const runs = Array.from({ length: 4 }, () => root({ start: NOON }));
    await store.post(...runs);
    const ref = await store.shardOn(NOON);
    const [first, second, ...others] = runs.map(({ id }) => id);
    await store.patch({ id: second, ...END });
    await shardStub(env, ref).deleteTraces(ref, [first ?? "", second ?? ""]);
    await evictDurableObject(shardStub(env, ref));
    expect((await store.ids()).toSorted()).toEqual(others.toSorted());
  });

  test("by age removes waiting runs, and then the shard", async ({ expect }) => {
    const { store, ref } = await waitingTrace();
    await inShard(ref, (sql) =>
      sql
        .exec("UPDATE traces SET first_received_at = first_received_at - ?", 15 * DAY_MS * 1_000)
        .toArray(),
    );
    await runAlarms([ref]);
    expect(await store.shards()).toEqual([]);
    expect(await store.ids()).toEqual([]);
  });

  test("of the project removes all waiting runs", async ({ expect }) => {
    const { store, ref, runs } = await waitingTrace();
    await shardStub(env, ref).destroy(ref);
    expect(await store.patch({ id: runs[0].id, ...END })).toMatchObject([{ status: 404 }]);
    expect(await store.post(...[1, 2, 3].map(() => root({ start: NOON })))).toEqual([]);
    expect(await store.ids()).toHaveLength(3);
  });
});

describe("the bounds of waiting runs", () => {
  test("settle a shard without readers when its alarm comes", async ({ expect }) => {
    const { ref } = await waitingTrace();
    const due = await inShard(ref, (_, storage) => storage.getAlarm());
    expect(due).toBeLessThanOrEqual(Date.now() + WAIT_MS);
    await runDurableObjectAlarm(shardStub(env, ref));
    expect(await counts(ref)).toEqual([0, 1]);
    // The alarm is set again for the runs that still wait.
    expect(await inShard(ref, (_, storage) => storage.getAlarm())).toBe(due);
    await letWait(ref, WAIT_MS / 2);
    await runDurableObjectAlarm(shardStub(env, ref));
    expect(await counts(ref)).toEqual([3, 0]);
    const next = await inShard(ref, (_, storage) => storage.getAlarm());
    expect(next).toBeGreaterThan(Date.now() + DAY_MS);
  });

  test("settle the oldest runs if too many wait", async ({ expect }) => {
    const store = new TestStore();
    const post = async () =>
      store.post(...Array.from({ length: 500 }, () => root({ start: NOON })));
    for (let n = 0; n < 4; n += 1) await post();
    const ref = await store.shardOn(NOON);
    expect(await counts(ref)).toEqual([0, 4]);
    await post();
    expect(await counts(ref)).toEqual([500, 4]);
    await evictDurableObject(shardStub(env, ref));
    await post();
    expect(await counts(ref)).toEqual([1_000, 4]);
  });

  test("exclude a request that is too long by itself, without effect on waiting ones", async ({
    expect,
  }) => {
    const { store, ref } = await waitingTrace();
    const inputs = { text: "x".repeat(15_000) };
    await store.post(...Array.from({ length: 300 }, () => root({ start: NOON, inputs })));
    expect(await counts(ref)).toEqual([300, 1]);
  });

  test("settle the oldest runs if their texts are too long together", async ({ expect }) => {
    const store = new TestStore();
    const inputs = { text: "x".repeat(12_000) };
    const post = async () =>
      store.post(...Array.from({ length: 40 }, () => root({ start: NOON, inputs })));
    const ref = await store.shardOn(NOON);
    const rows: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      if (n === 10) await evictDurableObject(shardStub(env, ref));
      await post();
      const [runs, waiting] = await counts(ref);
      expect(runs).toBe((n + 1 - waiting) * 40);
      rows.push(waiting);
    }
    // The number stays at the maximum that there is room for.
    const most = Math.max(...rows);
    expect(most).toBeGreaterThan(3);
    expect(most).toBeLessThan(9);
    expect(rows).toEqual(rows.map((_, n) => Math.min(n + 1, most)));
    const chars = await inShard(
      ref,
      (sql) =>
        sql.exec<{ n: number }>("SELECT sum(length(writes)) AS n FROM pending_writes").one().n,
    );
    expect(chars).toBeLessThan(4.2 * 1024 * 1024);
  });
});
