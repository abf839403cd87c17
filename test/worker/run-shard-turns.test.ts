import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { beforeAll, beforeEach, describe, inject, test } from "vitest";
import { collectStats } from "../../src/tracing/query/run-stats.ts";
import { findThreadTotals } from "../../src/tracing/query/threads.ts";
import { Turns } from "../../src/tracing/query/turns.ts";
import { type ShardRef, shardStub } from "../../src/tracing/shard/shard-ref.ts";
import { ALL_RUNS } from "../../src/tracing/shard/shard-stats.ts";
import { encodeCursor, type RunPosition } from "../../src/tracing/model/run-page.ts";
import { streamItems } from "../../src/tracing/api/v2/item-stream.ts";
import { inShard, root, TestStore, updateOf } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

const START = new Date("2026-03-01T00:00:00Z");

/** More wildcards than SQLite accepts in one pattern. */
const wildcards = `%${"a_".repeat(30)}b%`;

/** So expensive for each run, by the counted effort, that a turn covers few of them. */
const costly = `and(${Array.from({ length: 8 }, () => `like(name, "${wildcards}")`).join(", ")})`;

let store = new TestStore();
let ref: ShardRef;
let first: ReturnType<typeof root>;

beforeAll(() => migrateIndex(inject("migrations")));

beforeEach(async () => {
  store = new TestStore();
  first = root({ name: "first", start: START });
  await store.post(first);
  ref = await store.shardOn(START);
});

/** Copies the first run, a millisecond apart, each as a root in one of ten threads. */
async function copy(count: number, name: string): Promise<void> {
  await inShard(ref, (sql) => {
    sql.exec(
      `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
       INSERT INTO runs (key, id, trace_id, dotted_order, name, run_type, start_time, end_time,
         status, thread_id, patched, inserted_at, received_at)
       SELECT key + n * 1000 * 1024, printf('00000000-0000-4000-8000-%012d', n), trace_id, dotted_order, ?,
         iif(n % 2, 'llm', 'tool'), start_time + n * 1000, start_time + n * 1000 + n % 4, 'success',
         'thread ' || (n % 10), 0, 0, 0
       FROM n, (SELECT * FROM runs LIMIT 1)`,
      count,
      name,
    );
    sql.exec("UPDATE traces SET last_start = last_start + ? * 1000", count);
  });
  // The shard reads what it knows of its runs again.
  await evictDurableObject(shardStub(env, ref));
}

const page = { order: "asc", after: null, limit: 100, maxBytes: 1e6, payloads: [] } as const;

describe("a shard", () => {
  test("reads a part of its runs in a turn, which is smaller for an expensive filter", async ({
    expect,
  }) => {
    await copy(1000, "a".repeat(10_000));
    const shard = shardStub(env, ref);
    const { runs, next } = await shard.page({ filter: costly }, { ...page, effort: 1 });
    expect(runs).toEqual([]);
    const [few] = [next?.startTime ?? Infinity];
    const { next: later } = await shard.page(
      { filter: `like(name, "${wildcards}")` },
      { ...page, effort: 1 },
    );
    expect(later?.startTime).toBeGreaterThan(few);
    expect(later?.startTime).toBeLessThan(START.getTime() * 1000 + 900_000);
  });

  test("applies a trace filter only to the traces of the turn's runs", async ({ expect }) => {
    await copy(1000, "a".repeat(1000));
    const { next } = await shardStub(env, ref).page(
      { traceFilter: costly },
      { ...page, effort: 1 },
    );
    expect(next).not.toBeNull();
    expect(await store.ids({ traceFilter: 'eq(name, "first")' })).toHaveLength(1000);
  });
});

describe("a search", () => {
  // There are more segments than may lack their rows.
  beforeEach(() => copy(10_000, "run"));

  for (const order of ["asc", "desc"] as const) {
    test(`skips runs that lack its texts, and finds those that have them, ${order}`, async ({
      expect,
    }) => {
      const shard = shardStub(env, ref);
      // These are the first run of a segment, and one at the last microsecond of another.
      const needles = [
        "00000000-0000-4000-8000-000000002560",
        "00000000-0000-4000-8000-000000005119",
      ];
      await inShard(ref, (sql) => {
        const pair = JSON.stringify([["text", "The needle in the haystack"]]);
        sql.exec(
          "UPDATE runs SET output_leaves = ? WHERE id IN (SELECT value FROM json_each(?))",
          pair,
          JSON.stringify(needles),
        );
        sql.exec(
          "UPDATE runs SET key = key + 999 * 1024, start_time = start_time + 999 WHERE id = ?",
          needles.at(-1),
        );
      });
      await evictDurableObject(shard);
      const looks: string[][] = [];
      let after: RunPosition | null = null;
      let first: RunPosition | null = null;
      do {
        // The effort is so small that a turn checks the texts of one segment, or applies the filter to few runs.
        const query = { ...page, order, after, effort: 0.0004 };
        const { runs, next } = await shard.page({ filter: 'search("NEEDLE")' }, query);
        looks.push(runs.map(({ id }) => id));
        after = next;
        first ??= next;
      } while (after !== null);
      expect(looks.flat()).toEqual(order === "asc" ? needles : needles.toReversed());
      // At 40 microseconds each, only the needles' segments and the last one are searched for long.
      expect(looks.length).toBeGreaterThan(30);
      expect(looks.length).toBeLessThan(1_000);
      if (order === "asc") {
        expect(first?.startTime).toBeLessThan(START.getTime() * 1000 + 8 * 256_000);
      }
      const all = await shard.page({ filter: 'search("NEEDLE")' }, { ...page, effort: 1 });
      expect([all.runs.length, all.next]).toEqual([2, null]);
    });
  }

  test("finds texts that an update added to a segment whose row was written", async ({
    expect,
  }) => {
    await shardStub(env, ref).page({}, { ...page, effort: 1 });
    await store.patch(updateOf(first, { outputs: { text: "a needle that came late" } }));
    expect(await store.ids({ filter: 'search("needle late")' })).toEqual([first.id]);
    expect(await store.ids({ filter: 'search("needle soon")' })).toEqual([]);
  });

  test("searches the runs of segments without stored texts", async ({ expect }) => {
    const shard = shardStub(env, ref);
    await shard.page({}, { ...page, effort: 1 });
    await inShard(ref, (sql) => sql.exec("DELETE FROM segment_texts"));
    expect(await store.ids({ filter: 'search("first")' })).toHaveLength(1);
  });
});

describe("a query over many turns", () => {
  beforeEach(() => copy(25_000, "run"));

  test("finds the last run", async ({ expect }) => {
    const last = "00000000-0000-4000-8000-000000025000";
    const filter = 'and(gt(latency, -1), gte(start_time, "2026-03-01T00:00:25Z"))';
    expect(await store.ids({ filter })).toEqual([last]);
  });

  test("has the statistics of all runs", async ({ expect }) => {
    const query = { measures: ["latency" as const], details: true, feedback: true, facets: true };
    const question = { workspaceId: store.workspaceId, projectIds: [ref.projectId], query };
    const all = await collectStats(env, { ...question, selection: {}, groupBy: null });
    expect(all.get(ALL_RUNS)).toMatchObject({ runs: 25_001, ended: 25_000 });
    expect(all.get(ALL_RUNS)?.facets).toContainEqual({ key: "name", value: "run", n: 25_000 });
    const groups = await collectStats(env, {
      ...question,
      selection: { filter: 'eq(name, "run")' },
      groupBy: { attribute: "run_type" },
    });
    expect(Object.fromEntries([...groups].map(([name, { runs }]) => [name, runs]))).toEqual({
      llm: 12_500,
      tool: 12_500,
    });
    const threads = await findThreadTotals(env, { ...question, selection: {} });
    expect(threads.map(({ threadId, count }) => [threadId, count])).toEqual(
      [0, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((n) => [`thread ${n}`, 2500]),
    );
  });
});

describe("a query that would read too many runs", () => {
  test("is refused, and says how to narrow it", async ({ expect }) => {
    await copy(20, "a".repeat(10_000));
    const turns = new Turns(5);
    await expect(store.query({ selection: { filter: costly }, turns })).rejects.toMatchObject({
      code: "validation",
      message: expect.stringContaining("narrow the time range"),
    });
  });

  test("returns what it has found so far", async ({ expect }) => {
    await copy(20, "a".repeat(10_000));
    const { runs, next } = await store.query({
      turns: new Turns(5),
      selection: { filter: `or(eq(name, "first"), ${costly})` },
    });
    expect(runs.map(({ run }) => run.name)).toEqual(["first"]);
    expect(next).not.toBeNull();
  });

  describe("in a list that is sent in chunks", () => {
    /** Returns the first page of a query that may read without a match for five turns. */
    async function list(limit: number | null): Promise<Response> {
      return streamItems(env, {
        query: {
          workspaceId: store.workspaceId,
          selection: { filter: `or(lte(start_time, "2026-03-01T00:00:01Z"), ${costly})` },
          order: "asc",
          after: null,
          payloads: ["inputs"],
          turns: new Turns(5),
        },
        limit,
        render: async (runs) => runs.map(({ run }) => [JSON.stringify(run.start_time)]),
        end: (next) => (next === null ? {} : { next_cursor: encodeCursor(next) }),
      });
    }

    beforeEach(() => copy(1200, "a".repeat(10_000)));

    test("ends the page early, with the cursor of the next one", async ({ expect }) => {
      const page = await (await list(1100)).json<{ items: number[]; next_cursor: string }>();
      expect(page.items).toEqual(
        Array.from({ length: 1001 }, (_, n) => (START.getTime() + n) * 1000),
      );
      expect(JSON.parse(atob(page.next_cursor))[0]).toBe((START.getTime() + 1000) * 1000);
    });

    test("aborts if there is no next page", async ({ expect }) => {
      await expect((await list(null)).text()).rejects.toThrow("too many runs to look at");
    });
  });
});
