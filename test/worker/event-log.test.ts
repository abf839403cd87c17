import { env } from "cloudflare:workers";
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { assert, beforeAll, describe, inject, test } from "vitest";
import { EventLog } from "../../src/agent-server/threads/storage/event-log.ts";
import { THREAD_MIGRATIONS } from "../../src/agent-server/threads/storage/thread-migrations.ts";
import { THREAD_SCHEMA } from "../../src/agent-server/threads/storage/thread-schema.ts";
import { ThreadTables } from "../../src/agent-server/threads/storage/thread-tables.ts";
import type { RunEvent } from "../../src/graph-runtime/protocol.ts";
import { migrateTables } from "../../src/lib/object-migrations.ts";
import { migrateIndex, newThread, rowsIn, textOf, type TestThread } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const NOW = 1_700_000_000_000;

type InLog = {
  sql: SqlStorage;
  /** Returns a log as in an object that was just opened. */
  open: () => EventLog;
  rows: () => number;
};

/** Opens the log of the run with seq 1, in a new object. */
function withLog<T>(use: (log: InLog) => T, schema?: string): Promise<T> {
  const stub = env.THREADS.get(env.THREADS.newUniqueId());
  return runInDurableObject(stub, (_, { storage }) => {
    const { sql } = storage;
    if (schema === undefined) migrateTables(storage, THREAD_MIGRATIONS);
    else sql.exec(schema);
    sql.exec(
      `INSERT INTO runs (seq, run_id, assistant_id, graph_id, status, multitask_strategy, metadata, resumable,
         created_at, updated_at) VALUES (1, 'run', 'a', 'g', 'running', 'enqueue', '{}', 0, 0, 0)`,
    );
    return use({
      sql,
      open: () => new EventLog(sql, new ThreadTables(sql)),
      rows: () => rowsIn(sql, "events"),
    });
  });
}

function events(from: number, count: number, data = "x"): RunEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    event: "custom",
    data: JSON.stringify(`${data}${from + index}`),
  }));
}

function idsOf(log: EventLog, after = -1): number[] {
  const ids: number[] = [];
  for (;;) {
    const page = log.read(1, ids.at(-1) ?? after, Infinity);
    if (page.length === 0) return ids;
    ids.push(...page.map(({ id }) => id));
  }
}

describe("stored events", () => {
  test("are one row for each write, and are read from any position", async ({ expect }) => {
    await withLog(({ open, rows }) => {
      const log = open();
      log.append(1, events(0, 5), { now: NOW, stored: true });
      log.append(1, events(5, 1), { now: NOW, stored: true });
      log.append(1, events(6, 4), { now: NOW, stored: true });
      expect(rows()).toBe(3);
      const again = open();
      for (let after = -1; after < 10; after += 1) {
        expect(again.read(1, after, 8)).toEqual(
          events(0, 8)
            .map(({ event, data }, id) => ({ id, event, data, at: NOW }))
            .slice(after + 1),
        );
      }
      expect(again.nextId(1)).toBe(10);
    }, THREAD_SCHEMA);
  });

  test("are many rows when they are large, with every character", async ({ expect }) => {
    await withLog(({ open }) => {
      const large = events(0, 3, "語\u{1F600}".repeat(250_000));
      open().append(1, large, { now: NOW, stored: true });
      open().append(1, events(3, 3), { now: NOW, stored: true });
      const log = open();
      expect(idsOf(log)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(log.read(1, 1, 3)[0]?.data === large[2]?.data).toBe(true);
    });
  });

  test("of an earlier release, with one row for each, are read", async ({ expect }) => {
    await withLog(({ open, sql }) => {
      for (const id of [0, 1, 2]) {
        sql.exec(
          "INSERT INTO events (run_seq, id, part, event, data, at) VALUES (1, ?, 0, 'custom', 'null', NULL)",
          id,
        );
      }
      sql.exec("UPDATE runs SET next_event = 3");
      const log = open();
      log.append(1, events(3, 2), { now: NOW, stored: true });
      expect(idsOf(open())).toEqual([0, 1, 2, 3, 4]);
    });
  });
});

describe("events in memory", () => {
  test("write nothing, and are read together with earlier stored ones", async ({ expect }) => {
    await withLog(({ open, rows, sql }) => {
      const log = open();
      log.append(1, events(0, 2), { now: NOW, stored: true });
      sql.exec("UPDATE runs SET next_event = ?", log.begin(1, { stored: false, isNew: false }));
      const before = sql.databaseSize;
      for (let id = 2; id < 500; id += 1) {
        log.append(1, events(id, 1), { now: NOW, stored: false });
      }
      expect(rows()).toBe(1);
      expect(sql.databaseSize).toBe(before);
      expect(idsOf(log)).toEqual(Array.from({ length: 500 }, (_, id) => id));
      expect(idsOf(log, 400)[0]).toBe(401);
    });
  });

  test("that were lost in a crash never share their ids with later ones", async ({ expect }) => {
    await withLog(({ open, sql }) => {
      const log = open();
      sql.exec("UPDATE runs SET next_event = ?", log.begin(1, { stored: false, isNew: false }));
      const end = log.append(1, events(0, 3000), { now: NOW, stored: false });
      const next = open();
      expect(next.nextId(1)).toBeGreaterThanOrEqual(end);
      next.append(1, events(0, 1), { now: NOW, stored: false });
      expect(idsOf(next)).toEqual([next.nextId(1) - 1]);
    });
  });

  test("are written when there are too many, or when they must be durable", async ({ expect }) => {
    await withLog(({ open, rows }) => {
      const log = open();
      log.append(1, events(0, 3, "x".repeat(400_000)), { now: NOW, stored: false });
      expect(rows()).toBe(3);
      log.append(1, events(3, 10), { now: NOW, stored: false });
      expect(rows()).toBe(3);
      log.append(1, events(13, 1), { now: NOW, stored: true });
      expect(rows()).toBe(4);
      expect(idsOf(open())).toEqual(Array.from({ length: 14 }, (_, id) => id));
    });
  });

  test("are unchanged when the write that includes them fails", async ({ expect }) => {
    await withLog(({ open }) => {
      const log = open();
      log.append(1, events(0, 2), { now: NOW, stored: false });
      log.committed();
      log.append(1, events(2, 2), { now: NOW, stored: false });
      log.store(1);
      log.reset();
      expect(idsOf(log)).toContain(1);
      expect(log.nextId(1)).toBe(2);
    });
  });
});

describe("a run that is not resumable", () => {
  async function follow(thread: TestThread): Promise<string> {
    const body = { input: { steps: 3, delay_ms: 1, label: "x" } };
    const created = await thread.run("slow", body, { follow: "events" });
    assert(created.ok);
    return textOf(created.value.stream);
  }

  const storedEvents = (thread: TestThread): Promise<number> =>
    runInDurableObject(thread.object, (_, { storage }) => rowsIn(storage.sql, "events"));

  test("leaves no event, and its numbers are not used again", async ({ expect }) => {
    const thread = newThread();
    const ids = (text: string): number[] =>
      [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const first = ids(await follow(thread));
    expect(first).toEqual(first.map((_, index) => index));
    expect(await storedEvents(thread)).toBe(0);
    await runInDurableObject(thread.object, (_, { storage }) => {
      // A crash in the middle leaves this state.
      storage.sql.exec("UPDATE runs SET status = 'running', ended_at = NULL");
    });
    await evictDurableObject(thread.object);
    const run_id = await runInDurableObject(
      thread.object,
      (_, { storage }) =>
        storage.sql.exec<{ run_id: string }>("SELECT run_id FROM runs").one().run_id,
    );
    const again = await thread.api.streamRun(run_id, {
      last_event_id: first.at(-1) ?? -1,
      modes: null,
      cancel_on_disconnect: false,
    });
    assert(again.ok);
    const text = await textOf(again.value);
    expect(text).toContain(`"attempt":2`);
    expect(Math.min(...ids(text))).toBeGreaterThan(first.length - 1);
  });
});
