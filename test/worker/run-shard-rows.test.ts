import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, inject, test } from "vitest";
import { DayMessages, Outbox } from "../../src/tracing/shard/day-messages.ts";
import { ShardDatabase } from "../../src/tracing/shard/shard-database.ts";
import { type ShardRef, shardStub } from "../../src/tracing/shard/shard-ref.ts";
import { TraceTable } from "../../src/tracing/shard/trace-table.ts";
import { writeRuns } from "../../src/tracing/shard/write-runs.ts";
import { readRun } from "../../src/tracing/ingest/decode/run-body.ts";
import type { RunWrite } from "../../src/tracing/model/run-write.ts";
import { loadPrices } from "../../src/tracing/usage/workspace-prices.ts";
import { child, root, TestStore, updateOf } from "./run-shard-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const NOON = Date.parse("2026-03-01T12:00:00Z");

/** Returns a trace of an agent: a root, two steps, and a model below each. */
function trace(index: number) {
  const at = (n: number) => ({ start: new Date(NOON + index * 100 + n) });
  const extra = {
    metadata: Object.fromEntries(
      Array.from({ length: 15 }, (_, n) => [`key ${n}`, `value ${index}`]),
    ),
  };
  const top = root({ ...at(0), extra, inputs: { text: "question" } });
  const steps = [1, 2].map((n) => child(top, { ...at(n), extra, tags: ["step"] }));
  const usage = { usage_metadata: { input_tokens: 3, output_tokens: 2 } };
  const models = steps.map((step, n) =>
    child(step, { ...at(3 + n), run_type: "llm", extra, outputs: usage }),
  );
  return [top, ...steps, ...models];
}

/** Counts the rows that a shard writes for each list of writes, as Cloudflare bills them. */
async function rowsOf(ref: ShardRef, requests: readonly RunWrite[][]): Promise<number[]> {
  const prices = await loadPrices(env.DB, ref.workspaceId);
  return runInDurableObject(shardStub(env, ref), (_, { storage }) => {
    let rows = 0;
    const sql = new Proxy(storage.sql, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        if (name !== "exec") return member.bind(target);
        return (...args: Parameters<SqlStorage["exec"]>) => {
          const cursor = target.exec(...args);
          // Statements that write are not read row by row.
          const all = cursor.toArray();
          rows += cursor.rowsWritten;
          return Object.assign(all[Symbol.iterator](), {
            toArray: () => all,
            one: () => all[0],
            rowsWritten: cursor.rowsWritten,
          });
        };
      },
    });
    const counted = new Proxy(storage, {
      get: (target, name) => {
        if (name === "sql") return sql;
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const db = new ShardDatabase(counted);
    const traces = new TraceTable(sql, { shortlivedMs: 1, longlivedMs: 1 });
    const messages = new DayMessages(db, new Outbox(sql), traces);
    return requests.map((writes) => {
      rows = 0;
      db.transaction(() => {
        db.open(ref);
        const { starts } = writeRuns({ db, day: ref.day, prices, now: 0 }, writes);
        messages.noteTraces(ref, writes, { tier: "shortlived", now: 0, starts });
      });
      return rows;
    });
  });
}

describe("the rows that a shard writes", () => {
  test("are one for a run, one for a trace, and one for runs that wait for updates", async ({
    expect,
  }) => {
    const ref = await new TestStore().shardOn(new Date(NOON));
    const post = (run: object) => readRun("post", run, { identity: "required" });
    const traces = Array.from({ length: 21 }, (_, index) => trace(index));
    const [first = [], ...others] = traces;
    const patches = others.flat().map((run) =>
      readRun("patch", updateOf(run, { end_time: "2026-03-01T12:10:00Z", outputs: { a: 1 } }), {
        identity: "required",
      }),
    );
    const [, created, updated] = await rowsOf(ref, [
      first.map(post),
      others.flat().map(post),
      patches,
    ]);
    // The models report usage, so they do not wait for their updates. The other runs wait in one row.
    expect(created).toBe(40 + 20 + 1);
    // Waiting runs are written once, and their row is deleted.
    expect(updated).toBe(100 + 1);
  });

  test("are one for each run above a run whose amounts have changed", async ({ expect }) => {
    const ref = await new TestStore().shardOn(new Date(NOON));
    const post = (run: object) => readRun("post", run, { identity: "required" });
    const [top, one, two, ...models] = trace(0);
    const above = [top, one, two].map((run) => post(run ?? {}));
    for (const write of above) write.endTime = (NOON + 1_000) * 1_000;
    const [, rows] = await rowsOf(ref, [above, models.map(post)]);
    // One more row is the trace's, whose last known start is later now.
    expect(rows).toBe(2 + 3 + 1);
  });

  test("do not include runs above a run whose amounts have changed, as long as they wait", async ({
    expect,
  }) => {
    const ref = await new TestStore().shardOn(new Date(NOON));
    const post = (run: object) => readRun("post", run, { identity: "required" });
    const [top, one, two, ...models] = trace(0);
    const above = [top, one, two].map((run) => post(run ?? {}));
    const [, rows] = await rowsOf(ref, [above, models.map(post)]);
    // The other two rows are the trace's, and a mark of the first segment.
    expect(rows).toBe(2 + 1 + 1);
  });
});
