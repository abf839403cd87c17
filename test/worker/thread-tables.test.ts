import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { test } from "vitest";
import { THREAD_MIGRATIONS } from "../../src/agent-server/threads/storage/thread-migrations.ts";
import { prepareThreadTables } from "../../src/agent-server/threads/storage/thread-schema.ts";
import { ThreadStorage } from "../../src/agent-server/threads/storage/thread-storage.ts";
import { migrateTables } from "../../src/lib/object-migrations.ts";

/** The statements that releases had which noted them in a table and let SQLite count the runs. */
const EARLIER = THREAD_MIGRATIONS.slice(0, -3);

function inObject<T>(use: (storage: DurableObjectStorage) => T): Promise<T> {
  const stub = env.THREADS.get(env.THREADS.newUniqueId());
  return runInDurableObject(stub, (_, { storage }) => use(storage));
}

function columns({ sql }: DurableObjectStorage): unknown[] {
  return sql
    .exec(
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

test("a new thread has the tables that the migrations lead to", async ({ expect }) => {
  const migrated = await inObject((storage) => {
    migrateTables(storage, THREAD_MIGRATIONS);
    return columns(storage);
  });
  const made = await inObject((storage) => {
    prepareThreadTables(storage);
    return columns(storage);
  });
  expect(made).toEqual(migrated);
});

test("a thread of an earlier release goes on counting where its runs were", async ({ expect }) => {
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

test("a thread that was made whole has run what comes later, once", async ({ expect }) => {
  await inObject((storage) => {
    makeThread(new ThreadStorage(storage));
    const later = [...THREAD_MIGRATIONS, "CREATE TABLE later (n)", "INSERT INTO later VALUES (1)"];
    for (let opened = 0; opened < 3; opened += 1) prepareThreadTables(storage, later);
    expect(storage.sql.exec("SELECT n FROM later").toArray()).toEqual([{ n: 1 }]);
  });
});

test("an object that is only looked at stays empty", async ({ expect }) => {
  await inObject((storage) => {
    expect(new ThreadStorage(storage).exists).toBe(false);
    expect(columns(storage)).toEqual([]);
  });
});
