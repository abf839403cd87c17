import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { beforeAll, inject, test } from "vitest";
import { OldRuns } from "../../src/tracing/shard/move-old-runs.ts";
import { ShardDatabase } from "../../src/tracing/shard/shard-database.ts";
import { shardStub } from "../../src/tracing/shard/shard-ref.ts";
import { FIRST_SHARD_TABLES } from "./first-shard-tables.ts";
import {
  child,
  countIn,
  inShard,
  payloadText,
  root,
  tablesIn,
  TestStore,
  updateOf,
} from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const NOON = new Date("2026-03-01T12:00:00Z");
const START = NOON.getTime() * 1000;
const LONG = JSON.stringify({ text: "x".repeat(20_000) });

/** Gives a shard the tables and rows of the first version: a root with a model below it. */
async function makeOld(
  store: TestStore,
  ids: { top: string; model: string; order: string },
  fill: (sql: SqlStorage) => void = () => {},
) {
  const ref = await store.shardOn(NOON);
  await inShard(ref, (sql) => {
    for (const { name } of sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf*'",
      )
      .toArray()) {
      if (name !== "migrations" && name !== "settings") sql.exec(`DROP TABLE "${name}"`);
    }
    const settings = sql.exec<{ name: string; value: string }>("SELECT * FROM settings").toArray();
    sql.exec("DROP TABLE settings");
    sql.exec(FIRST_SHARD_TABLES);
    sql.exec("DELETE FROM migrations; INSERT INTO migrations (id) VALUES (0)");
    for (const { name, value } of settings)
      sql.exec("INSERT INTO settings VALUES (?, ?)", name, value);
    const insert = (
      seq: number,
      id: string,
      parent: string | null,
      order: string,
      tokens: number,
    ) =>
      sql.exec(
        `INSERT INTO runs (seq, id, trace_id, parent_run_id, dotted_order, name, run_type, start_time,
           status, tags, attribute_ids, total_tokens, patched, inserted_at, received_at)
         VALUES (?, ?, ?, ?, ?, ?, 'chain', ?, 'success', '["beta"]', '[1,2]', ?, 0, 1, 1)`,
        seq,
        id,
        ids.top,
        parent,
        order,
        `run ${seq}`,
        START + seq,
        tokens,
      );
    insert(1, ids.top, null, ids.order, 7);
    insert(2, ids.model, ids.top, `${ids.order}.${ids.order}`, 7);
    sql.exec(
      "INSERT INTO attributes VALUES (1, 'tag', 'beta', ''), (2, 'metadata', 'env', 'prod')",
    );
    sql.exec("INSERT INTO run_attributes VALUES (1, 1), (2, 1), (1, 2), (2, 2)");
    sql.exec("INSERT INTO traces VALUES (?, 'longlived', 5)", ids.top);
    const payload = (key: number, body: string | null, object: string | null) =>
      sql.exec(
        "INSERT INTO payloads VALUES (?, ?, ?, ?)",
        key,
        body,
        object,
        object === null ? null : 9,
      );
    payload(8, '{"a":1}', null);
    payload(8 + 6, '[["a","needle"]]', null);
    payload(8 + 1, null, "an object/in R2");
    payload(16 + 3, LONG, null);
    fill(sql);
  });
  await evictDurableObject(shardStub(env, ref));
  return ref;
}

test("a shard of the first version can still be read and written", async ({ expect }) => {
  const store = new TestStore();
  const top = root({ start: NOON });
  const model = child(top, { start: NOON });
  await store.post(top, model);
  const ref = await makeOld(store, { top: top.id, model: model.id, order: top.dotted_order });

  const [first, second] = await store.select();
  expect(first?.run).toMatchObject({
    id: top.id,
    name: "run 1",
    start_time: START + 1,
    tags: '["beta"]',
    trace_tier: "longlived",
    trace_first_received_at: 5,
    payloads: { inputs: { json: '{"a":1}' }, outputs: { object: "an object/in R2", bytes: 9 } },
  });
  expect(second && (await payloadText(second.run, "extra"))).toBe(LONG);
  for (const filter of [
    'has(tags, "beta")',
    'and(eq(metadata_key, "env"), eq(metadata_value, "prod"))',
    `eq(trace_id, "${top.id}")`,
  ]) {
    expect(await store.ids({ filter })).toEqual([top.id, model.id]);
  }
  expect(await store.ids({ filter: 'search("needle")' })).toEqual([top.id]);
  expect(await store.ids({ treeFilter: 'eq(name, "run 2")' })).toEqual([top.id, model.id]);

  await store.patch(updateOf(model, { end_time: "2026-03-01T12:00:01Z", extra: { more: 1 } }));
  expect(await countIn(ref, "runs")).toBe(2);
  expect(await tablesIn(ref)).not.toContain("run_attributes");
  await shardStub(env, ref).deleteTraces(ref, [top.id]);
  expect(
    await Promise.all(["runs", "long_payloads", "traces"].map((t) => countIn(ref, t))),
  ).toEqual([0, 0, 0]);
});

test("a large shard of the first version is migrated some runs at a time, and continues after an interruption", async ({
  expect,
}) => {
  const store = new TestStore();
  const top = root({ start: NOON });
  const model = child(top, { start: NOON });
  await store.post(top, model);
  const total = 2_000;
  const ids = { top: top.id, model: model.id, order: top.dotted_order };
  const ref = await makeOld(store, ids, (sql) => {
    // There are more runs with one start than keys for it.
    sql.exec(
      `INSERT INTO runs (seq, id, trace_id, parent_run_id, dotted_order, name, run_type, start_time,
         status, attribute_ids, total_tokens, patched, inserted_at, received_at)
       WITH RECURSIVE n (n) AS (SELECT 3 UNION ALL SELECT n + 1 FROM n WHERE n < ?2)
       SELECT n, printf('0-%d', n), ?1, iif(n = 10, 'nobody', ?1), ?3 || '.' || ?3, 'run ' || n, 'chain',
         iif(n < 1400, ?4, ?4 + n), 'success', '[2]', 1, 0, 1, 1 FROM n`,
      top.id,
      total,
      top.dotted_order,
      START,
    );
    sql.exec("INSERT INTO traces VALUES ('told of', 'shortlived', 7)");
  });
  let turns = 0;
  let before = 0;
  for (let isDone = false; !isDone; turns += 1) {
    // Each turn finds only what the previous one has left on disk.
    isDone = await inShard(ref, (_, storage) => {
      const db = new ShardDatabase(storage);
      const oldRuns = new OldRuns(db.sql, db.segments, db.settings);
      return db.transaction(() => oldRuns.moveSome());
    });
    const moved = await countIn(ref, "runs");
    expect(moved - before).toBeLessThanOrEqual(256);
    before = moved;
  }
  expect(turns).toBeGreaterThan(total / 256);
  await evictDurableObject(shardStub(env, ref));

  expect(await countIn(ref, "runs")).toBe(total);
  expect(await tablesIn(ref)).not.toContain("indexed_runs");
  const runs = await store.select({
    filter: 'and(eq(metadata_key, "env"), eq(metadata_value, "prod"))',
  });
  const names = new Set(runs.map(({ run }) => run.name));
  for (let page = runs.at(-1)?.run; page !== undefined && names.size < total;) {
    const { runs: next } = await store.query({
      after: { startTime: page.start_time, id: page.id },
    });
    for (const { run } of next) names.add(run.name);
    page = next.at(-1)?.run;
  }
  expect(names.size).toBe(total);
  expect((await store.select({ ids: [model.id] }))[0]?.run.name).toBe("run 2");
  expect(
    await inShard(ref, (sql) => [
      sql.exec("SELECT * FROM expected_parents").toArray(),
      sql.exec("SELECT trace_id, first_start, last_start FROM traces ORDER BY 1 DESC").toArray(),
    ]),
  ).toEqual([
    [{ run_id: "nobody" }],
    [
      { trace_id: "told of", first_start: null, last_start: null },
      { trace_id: top.id, first_start: START, last_start: START + total },
    ],
  ]);
});
