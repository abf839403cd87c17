import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { assert, beforeAll, describe, inject, test, vi } from "vitest";
import { readJsonText } from "../../src/lib/json-answer.ts";
import { migrateIndex, newThread, rowsIn, runsOf, textOf, type TestThread } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const hello = { input: { messages: [{ role: "user", content: "hello" }] } };

async function tables(thread: TestThread): Promise<string[]> {
  return runInDurableObject(thread.object, (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .toArray()
      .map((row) => row.name)
      .filter((name) => !name.startsWith("_cf") && !name.startsWith("sqlite_")),
  );
}

async function count(thread: TestThread, table: string): Promise<number> {
  return runInDurableObject(thread.object, (_, { storage }) => rowsIn(storage.sql, table));
}

async function indexRow(thread: TestThread): Promise<{ status: string; version: number } | null> {
  return env.DB.prepare("SELECT status, version FROM threads WHERE thread_id = ?")
    .bind(thread.id)
    .first();
}

async function finish(thread: TestThread, graph: string, body: object): Promise<string> {
  const created = await thread.run(graph, body, { follow: "result" });
  assert(created.ok);
  return textOf(created.value.stream);
}

describe("a thread object", () => {
  test("stores nothing for an id that was not created", async ({ expect }) => {
    const thread = newThread();
    expect(await thread.api.get()).toBeNull();
    expect(await runsOf(thread)).toBeNull();
    expect(await tables(thread)).toEqual([]);
  });

  test("refuses a run on a missing thread unless it may create it", async ({ expect }) => {
    const thread = newThread();
    expect(await thread.run("appender", hello, { create_thread: false })).toEqual({
      ok: false,
      code: "thread_not_found",
    });
    expect(await tables(thread)).toEqual([]);
  });

  test("loses nothing when it is evicted between runs", async ({ expect }) => {
    const thread = newThread();
    await finish(thread, "appender", hello);
    const before = await thread.api.get();
    await evictDurableObject(thread.object);
    expect(await thread.api.get()).toEqual(before);
    await finish(thread, "appender", hello);
    const after = await thread.api.get();
    assert(after !== null && before !== null);
    const messages = (values: unknown): unknown[] => (values as { messages: unknown[] }).messages;
    expect(messages(after.values).length).toBe(2 * messages(before.values).length);
  });

  test("continues a run of a dead process from its last checkpoint", async ({ expect }) => {
    const thread = newThread();
    const body = { input: { steps: 3, delay_ms: 1, label: "x" } };
    const created = await thread.run("slow", body, { follow: "result" });
    assert(created.ok);
    const { run_id } = created.value.run;
    await textOf(created.value.stream);
    // A crash after the first steps leaves this state: the run is running, its later checkpoints are not written.
    await runInDurableObject(thread.object, (_, { storage }) => {
      storage.sql.exec("UPDATE runs SET status = 'running', ended_at = NULL");
      storage.sql.exec(
        `DELETE FROM checkpoints WHERE id IN
           (SELECT id FROM checkpoints WHERE ns = '' ORDER BY id DESC LIMIT 2)`,
      );
    });
    await evictDurableObject(thread.object);
    const joined = await thread.api.joinRun(run_id, { cancel_on_disconnect: false });
    assert(joined.ok);
    const values = JSON.parse(await textOf(joined.value));
    const contents = values.messages.map((message: { content: string }) => message.content);
    expect(new Set(contents).size).toBe(contents.length);
    expect(contents.length).toBeGreaterThanOrEqual(3);
    const run = await thread.api.getRun(run_id);
    expect(run?.status).toBe("success");
  });

  test("gives up a run that was interrupted three times", async ({ expect }) => {
    const thread = newThread();
    await finish(thread, "appender", hello);
    const runs = await runsOf(thread);
    const runId = runs?.[0]?.run_id ?? "";
    await runInDurableObject(thread.object, (_, { storage }) => {
      storage.sql.exec("UPDATE runs SET status = 'running', attempt = 3, ended_at = NULL");
    });
    await evictDurableObject(thread.object);
    await thread.api.get();
    await vi.waitUntil(async () => (await thread.api.getRun(runId))?.status === "error", 60_000);
    const joined = await thread.api.joinRun(runId, { cancel_on_disconnect: false });
    assert(joined.ok);
    expect(JSON.parse(await textOf(joined.value))).toEqual({
      __error__: {
        error: "RunInterruptedError",
        message: "The run was interrupted 3 times and is not tried again.",
      },
    });
  });

  test.for([
    ["by the alarm of a run in the background", "none"],
    ["when it is next asked for anything", "result"],
  ] as const)("restores an index row that was lost, %s", async ([, follow], { expect }) => {
    const thread = newThread();
    const created = await thread.run("appender", hello, { follow });
    assert(created.ok);
    await created.value.stream?.pipeTo(new WritableStream());
    await vi.waitUntil(async () => (await indexRow(thread))?.status === "idle", 60_000);
    await env.DB.prepare("DELETE FROM threads WHERE thread_id = ?").bind(thread.id).run();
    await evictDurableObject(thread.object);
    if (follow === "none") expect(await runDurableObjectAlarm(thread.object)).toBe(true);
    else await thread.api.get();
    await vi.waitUntil(async () => (await indexRow(thread))?.status === "idle", 60_000);
  });

  test.for(["none", "events", "result"] as const)(
    "has its alarm set as soon as a run was accepted, whose creator follows %s",
    async (follow, { expect }) => {
      const thread = newThread();
      const input = { steps: 1, delay_ms: 100, label: "x" };
      const created = await thread.run("slow", { input }, { follow });
      assert(created.ok);
      const alarm = runInDurableObject(thread.object, (_, { storage }) => storage.getAlarm());
      expect(await alarm).not.toBeNull();
      await created.value.stream?.pipeTo(new WritableStream());
    },
  );

  test("leaves no row, no alarm and no index entry when it is removed", async ({ expect }) => {
    const thread = newThread();
    await finish(thread, "appender", hello);
    expect(await thread.api.remove()).toBe(true);
    expect(await thread.api.remove()).toBe(false);
    expect(await tables(thread)).toEqual([]);
    expect(await runDurableObjectAlarm(thread.object)).toBe(false);
    expect(await indexRow(thread)).toBeNull();
  });

  test("deletes the thread of a stateless run when its result has been read", async ({
    expect,
  }) => {
    const thread = newThread();
    const created = await thread.run("appender", hello, { follow: "result", temporary: true });
    assert(created.ok);
    expect(JSON.parse(await textOf(created.value.stream))).toHaveProperty("messages");
    await vi.waitUntil(async () => (await tables(thread)).length === 0, 60_000);
    expect(await indexRow(thread)).toBeNull();
  });

  test("keeps the events of a resumable run for its retention, and others only while they are read", async ({
    expect,
  }) => {
    const thread = newThread();
    await finish(thread, "appender", hello);
    expect(await count(thread, "events")).toBe(0);
    await finish(thread, "appender", { ...hello, stream_resumable: true });
    const kept = await count(thread, "events");
    expect(kept).toBeGreaterThan(1);
    await runInDurableObject(thread.object, (_, { storage }) => {
      storage.sql.exec("UPDATE runs SET expires_at = 1 WHERE expires_at IS NOT NULL");
    });
    await runDurableObjectAlarm(thread.object);
    expect(await count(thread, "events")).toBe(0);
  });

  test("stores values larger than a row", async ({ expect }) => {
    const thread = newThread();
    const content = "語".repeat(1_500_000);
    const result = await finish(thread, "appender", {
      input: { messages: [{ role: "user", content }] },
    });
    expect(JSON.parse(result).messages[0].content === content).toBe(true);
    await evictDurableObject(thread.object);
    const state = await thread.api.getState({
      revision_id: null,
      checkpoint: null,
      subgraphs: false,
    });
    assert(state.ok);
    const text = (await readJsonText(state.value, 10_000_000)) ?? "";
    expect(JSON.parse(text).values.messages[0].content === content).toBe(true);
  });
});
