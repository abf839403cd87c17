import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";
import {
  type LateTable,
  THREAD_MIGRATIONS,
} from "../../src/agent-server/threads/storage/thread-migrations.ts";
import { ThreadStorage } from "../../src/agent-server/threads/storage/thread-storage.ts";
import { ThreadTables } from "../../src/agent-server/threads/storage/thread-tables.ts";
import type { CheckpointPut } from "../../src/graph-runtime/checkpoint-port.ts";
import { migrateTables } from "../../src/lib/object-migrations.ts";

/** The statements of releases that recorded them in a table and made SQLite count the runs. */
const EARLIER = THREAD_MIGRATIONS.slice(0, -3);

const LATE = ["events", "channel_values", "turns"] as const satisfies LateTable[];

function inObject<T>(use: (storage: DurableObjectStorage) => T | Promise<T>): Promise<T> {
  const stub = env.THREADS.get(env.THREADS.newUniqueId());
  return runInDurableObject(stub, (_, { storage }) => use(storage));
}

type Column = { table: string; name: string };

function columns({ sql }: DurableObjectStorage): Column[] {
  return sql
    .exec<Column>(
      `SELECT t.name AS "table", c.name, c.type, c."notnull", c.dflt_value, c.pk
       FROM sqlite_master t, pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.name <> 'migrations' AND t.name NOT LIKE '\\_cf%' ESCAPE '\\'
       ORDER BY 1, 2`,
    )
    .toArray();
}

function makeThread(storage: ThreadStorage): void {
  storage.transaction(() => {
    if (!storage.exists) storage.makeTables();
    storage.thread.create({
      thread_id: "t",
      workspace_id: "w",
      deployment_id: "d",
      metadata: {},
      temporary: false,
      ttl: null,
      now: 0,
    });
  });
}

test("a new thread has the tables that the migrations lead to, apart from late ones", async ({
  expect,
}) => {
  const migrated = await inObject((storage) => {
    migrateTables(storage, THREAD_MIGRATIONS);
    return columns(storage);
  });
  const made = await inObject((storage) => {
    const tables = new ThreadTables(storage.sql);
    tables.prepare(storage);
    for (const late of LATE) tables.need(late);
    return columns(storage);
  });
  expect(made).toEqual(migrated);
});

test("a thread of an earlier release continues the numbers of its runs", async ({ expect }) => {
  await inObject((storage) => {
    migrateTables(storage, EARLIER);
    storage.sql.exec(
      `INSERT INTO thread (id, thread_id, workspace_id, deployment_id, created_at, updated_at, state_updated_at,
         status, settled_status, metadata, config, interrupts, temporary, version, indexed_version)
       VALUES (1, 't', 'w', 'd', 0, 0, 0, 'idle', 'idle', '{}', '{}', '{}', 0, 1, 0)`,
    );
    for (const run of ["a", "b", "c"]) {
      storage.sql.exec(
        `INSERT INTO runs (run_id, assistant_id, graph_id, status, multitask_strategy, metadata, resumable,
           created_at, updated_at) VALUES (?, 'a', 'g', 'success', 'enqueue', '{}', 0, 0, 0)`,
        run,
      );
    }
    storage.sql.exec("DELETE FROM runs WHERE run_id = 'c'");
    const thread = new ThreadStorage(storage);
    expect(thread.transaction(() => thread.thread.takeRunSeq())).toBe(4);
    expect(new ThreadStorage(storage).thread.get().next_run).toBe(5);
  });
});

test("a thread that was created with all tables runs later migrations once", async ({ expect }) => {
  await inObject((storage) => {
    makeThread(new ThreadStorage(storage));
    const later = [...THREAD_MIGRATIONS, "CREATE TABLE later (n)", "INSERT INTO later VALUES (1)"];
    for (let opened = 0; opened < 3; opened += 1) {
      new ThreadTables(storage.sql).prepare(storage, later);
    }
    expect(storage.sql.exec("SELECT n FROM later").toArray()).toEqual([{ n: 1 }]);
  });
});

describe("a late table", () => {
  const lateTables = (storage: DurableObjectStorage): string[] =>
    LATE.filter((late) => columns(storage).some(({ table }) => table === late));

  test("does not exist before something is written to it, and reads as empty", async ({
    expect,
  }) => {
    await inObject((storage) => {
      const thread = new ThreadStorage(storage);
      makeThread(thread);
      thread.transaction(() => {
        expect(thread.turns.newest()).toBe(null);
        expect(thread.turns.deleteOld(1)).toEqual([]);
        expect(thread.log.read(1, -1, Infinity)).toEqual([]);
        thread.log.delete(1);
        thread.checkpoints.deleteRun("run");
        expect(thread.checkpoints.prune()).toBe(false);
        expect(thread.checkpoints.copied()).toMatchObject({ channel_values: [] });
      });
      expect(lateTables(storage)).toEqual([]);
      thread.transaction(() => thread.turns.addUpdate(1));
      expect(lateTables(storage)).toEqual(["turns"]);
      expect(new ThreadStorage(storage).turns.newest()).toEqual({ id: 1, run_seq: null });
    });
  });

  test("is created again if the transaction that created it failed", async ({ expect }) => {
    await inObject((storage) => {
      const thread = new ThreadStorage(storage);
      makeThread(thread);
      expect(() =>
        thread.transaction(() => {
          thread.turns.addUpdate(1);
          throw new Error("Not now");
        }),
      ).toThrow("Not now");
      expect(thread.turns.newest()).toBe(null);
      expect(thread.transaction(() => thread.turns.addUpdate(1))).toBe(1);
    });
  });

  test("is skipped by a migration of it, and created in its migrated form", async ({ expect }) => {
    const later = [
      ...THREAD_MIGRATIONS,
      { table: "turns", statements: "ALTER TABLE turns ADD COLUMN later" },
    ] as const;
    const migrated = (made: (thread: ThreadStorage) => void): Promise<boolean> =>
      inObject((storage) => {
        const thread = new ThreadStorage(storage);
        makeThread(thread);
        made(thread);
        new ThreadTables(storage.sql).prepare(storage, later);
        return columns(storage).some(({ name }) => name === "later");
      });
    expect(await migrated(() => {})).toBe(false);
    expect(await migrated((thread) => thread.transaction(() => thread.turns.addUpdate(1)))).toBe(
      true,
    );
  });

  test("is deleted with its thread", async ({ expect }) => {
    await inObject(async (storage) => {
      const thread = new ThreadStorage(storage);
      makeThread(thread);
      thread.transaction(() => thread.turns.addUpdate(1));
      await thread.erase();
      makeThread(thread);
      expect(thread.turns.newest()).toBe(null);
      expect(thread.transaction(() => thread.turns.addUpdate(1))).toBe(1);
    });
  });
});

test("an object that is only read stays empty", async ({ expect }) => {
  await inObject((storage) => {
    expect(new ThreadStorage(storage).exists).toBe(false);
    expect(columns(storage)).toEqual([]);
  });
});

describe("the texts of a new thread in memory", () => {
  test("equal those in the tables, also after a failed transaction", async ({ expect }) => {
    await inObject((storage) => {
      const thread = new ThreadStorage(storage);
      makeThread(thread);
      const { texts } = thread;
      const long = "x".repeat(1_000_000);
      thread.transaction(() => texts.set("long", long));
      thread.transaction(() => texts.set("a:1", "one"));
      expect(() =>
        thread.transaction(() => {
          texts.delete("long");
          texts.set("a:2", "two");
          throw new Error("Not now");
        }),
      ).toThrow("Not now");
      expect([texts.get("long"), texts.get("a:2")]).toEqual([long, null]);
      expect([texts.withPrefix("a:"), texts.withPrefix("b:")]).toEqual([["one"], []]);
    });
  });

  test("have a shorter text in place of a longer one", async ({ expect }) => {
    await inObject((storage) => {
      const thread = new ThreadStorage(storage);
      makeThread(thread);
      for (const text of ["x".repeat(1_000_000), "short"]) {
        thread.transaction(() => thread.texts.set("one", text));
      }
      expect(thread.texts.get("one")).toBe("short");
      expect(new ThreadStorage(storage).texts.get("one")).toBe("short");
    });
  });
});

describe("the runs and checkpoints of a new thread in memory", () => {
  const run = {
    seq: 1,
    run_id: "run",
    assistant_id: "a",
    graph_id: "g",
    multitask_strategy: "enqueue",
    metadata: "{}",
    created_at: 1,
    principal: null,
    revision_id: null,
    resumable: 1,
    webhook: null,
    kwargs: "{}",
    now: 1,
  } as const;

  test("follow what is written", async ({ expect }) => {
    await inObject((storage) => {
      const thread = new ThreadStorage(storage);
      makeThread(thread);
      const { runs, checkpoints } = thread;
      expect([runs.get("run"), runs.nextExpiry(), checkpoints.newestRun()]).toEqual([
        null,
        null,
        null,
      ]);
      thread.transaction(() => {
        runs.insert(run, { place: 1, nextEvent: 0 });
        checkpoints.apply([{ put: checkpoint }], "run");
      });
      expect([runs.get("run")?.status, runs.nextExpiry()]).toEqual(["running", null]);
      expect([checkpoints.newestRun(), checkpoints.namespaces()]).toEqual(["run", [""]]);
      expect(checkpoints.start()?.id).toBe(checkpoint.id);
      const end = { status: "success", error: null, stop: null, now: 2, nextEvent: 0 } as const;
      thread.transaction(() => runs.end(1, { ...end, expiresAt: 5 }));
      expect(runs.nextExpiry()).toBe(5);
      thread.transaction(() => runs.keepUntil(1, 7));
      expect(runs.nextExpiry()).toBe(7);
      thread.transaction(() => runs.delete(1));
      expect(runs.nextExpiry()).toBe(null);
    });
  });
});

const json = new TextEncoder().encode("{}");

const checkpoint = {
  ns: "",
  id: "00000000-0000-6000-8000-000000000001",
  parent_id: null,
  format: 4,
  checkpoint: ["json", json],
  metadata: ["json", json],
  channels: [],
  inherited: [],
} satisfies CheckpointPut;
