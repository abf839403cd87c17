import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { assert, beforeAll, describe, inject, test, vi } from "vitest";
import { readJsonText } from "../../src/lib/json-answer.ts";
import { LATE_TABLES } from "../../src/agent-server/threads/storage/thread-schema.ts";
import { migrateIndex, newThread, rowsIn, textOf, type TestThread } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const BOUND = { timeout: 150_000, interval: 20 };
const AT_ONCE = 0.000_01;

const state = { revision_id: null, checkpoint: null, subgraphs: false };

async function finish(thread: TestThread, graph: string, input: unknown): Promise<string> {
  const created = await thread.run(graph, { input }, { follow: "result" });
  assert(created.ok);
  await textOf(created.value.stream);
  return created.value.run.run_id;
}

async function rows(thread: TestThread): Promise<Record<string, number>> {
  return runInDurableObject(thread.object, (_, { storage }) => {
    const tables = ["checkpoints", "channel_values", "writes", "run_starts"];
    return Object.fromEntries(tables.map((table) => [table, rowsIn(storage.sql, table)]));
  });
}

async function stateOf(thread: TestThread): Promise<Record<string, unknown>> {
  const read = await thread.api.getState(state);
  assert(read.ok);
  return JSON.parse((await readJsonText(read.value, 1_000_000)) ?? "");
}

async function expiry(thread: TestThread): Promise<number | null> {
  return runInDurableObject(
    thread.object,
    (_, { storage }) =>
      storage.sql.exec<{ at: number | null }>("SELECT expires_at AS at FROM thread").one().at,
  );
}

describe("a prune to the latest checkpoint", () => {
  test("keeps the state and the values that it consists of, and nothing else", async ({
    expect,
  }) => {
    const thread = newThread();
    await finish(thread, "branching", {});
    await finish(thread, "branching", {});
    const before = await stateOf(thread);
    expect((await rows(thread))["checkpoints"]).toBeGreaterThan(5);
    expect(await thread.api.prune("keep_latest")).toBe("pruned");
    expect(await rows(thread)).toMatchObject({ checkpoints: 1, run_starts: 1 });
    expect(await stateOf(thread)).toEqual({ ...before, parent_checkpoint: null });
    await evictDurableObject(thread.object);
    await finish(thread, "branching", {});
    const { values } = (await stateOf(thread)) as { values: { counter: number } };
    expect(values.counter).toBe(9);
  });

  test("continues in turns, however many checkpoints there are", async ({ expect }) => {
    const thread = newThread();
    await finish(thread, "branching", {});
    const before = await stateOf(thread);
    await runInDurableObject(thread.object, (_, { storage }) => {
      storage.sql.exec(LATE_TABLES.channel_values);
      for (let n = 0; n < 700; n += 1) {
        const id = `00000000-0000-6000-8000-${String(n).padStart(12, "0")}`;
        storage.sql.exec(
          `INSERT INTO checkpoints SELECT ns, ?, NULL, NULL, checkpoint_type, checkpoint, metadata_type, metadata,
             '{"old":"${id}"}', format, NULL FROM checkpoints WHERE ns = '' LIMIT 1`,
          id,
        );
        storage.sql.exec("INSERT INTO channel_values VALUES ('', ?, 'old', 0, 'json', '1')", id);
      }
    });
    // The object in memory would not look for the table that was created beside it.
    await evictDurableObject(thread.object);
    expect(await thread.api.prune("keep_latest")).toBe("pruned");
    expect(await rows(thread)).toMatchObject({ checkpoints: 1 });
    expect(await stateOf(thread)).toEqual({ ...before, parent_checkpoint: null });
    const kept = await rows(thread);
    expect(await thread.api.prune("keep_latest")).toBe("pruned");
    expect(await rows(thread)).toEqual(kept);
  });

  test("keeps an interrupt in a subgraph's subgraph resumable", async ({ expect }) => {
    const thread = newThread();
    await finish(thread, "nested", { confirm: false });
    await finish(thread, "nested", { confirm: true });
    expect(await thread.api.prune("keep_latest")).toBe("pruned");
    // The checkpoints of subgraphs that had ended are deleted.
    expect((await rows(thread))["checkpoints"]).toBe(3);
    await evictDurableObject(thread.object);
    const resumed = await thread.run(
      "nested",
      { command: { resume: "yes" } },
      { follow: "result" },
    );
    assert(resumed.ok);
    expect(JSON.parse(await textOf(resumed.value.stream))).toMatchObject({ approval: "yes" });
  });

  test("allows the run to be removed whose checkpoint was kept", async ({ expect }) => {
    const thread = newThread();
    const runId = await finish(thread, "branching", {});
    await thread.api.prune("keep_latest");
    expect(await thread.api.deleteRun(runId)).toBe(true);
    expect(await rows(thread)).toEqual({
      checkpoints: 0,
      channel_values: 0,
      writes: 0,
      run_starts: 0,
    });
  });

  test("does not change a thread while a run writes to it", async ({ expect }) => {
    const thread = newThread();
    await finish(thread, "branching", {});
    const before = await rows(thread);
    await thread.run("branching", { input: {}, after_seconds: 3600 });
    expect(await thread.api.prune("keep_latest")).toBe("busy");
    expect(await rows(thread)).toEqual(before);
  });

  test("reports a thread that does not exist", async ({ expect }) => {
    expect(await newThread().api.prune("keep_latest")).toBe("missing");
    expect(await newThread().api.prune("delete")).toBe("missing");
  });
});

describe("an expired thread", () => {
  const ttl = { strategy: "delete", minutes: AT_ONCE } as const;

  test("is deleted by itself, and from the index", async ({ expect }) => {
    const thread = newThread();
    const { scope, id: thread_id } = thread;
    const made = { scope, thread_id, metadata: {}, if_exists: "raise", ttl } as const;
    expect((await thread.api.create(made)).ok).toBe(true);
    await vi.waitFor(async () => expect(await thread.api.get()).toBeNull(), BOUND);
  });

  test("is deleted even if its object was stopped meanwhile", async ({ expect }) => {
    const thread = newThread();
    const hour = { strategy: "delete", minutes: 60 } as const;
    await thread.run("branching", { input: {} }, { ttl: hour, follow: "none" });
    await vi.waitFor(async () => expect((await thread.api.get())?.status).toBe("idle"), BOUND);
    await runInDurableObject(thread.object, (_, { storage }) =>
      storage.sql.exec("UPDATE thread SET expires_at = 1"),
    );
    await evictDurableObject(thread.object);
    await runDurableObjectAlarm(thread.object);
    expect(await thread.api.get()).toBeNull();
  });

  test("is kept as long as a run is in flight", async ({ expect }) => {
    const thread = newThread();
    const created = await thread.run("branching", { input: {}, after_seconds: 3600 });
    assert(created.ok);
    await thread.api.patch({ metadata: {}, ttl });
    await runDurableObjectAlarm(thread.object);
    expect(await thread.api.get()).toMatchObject({ status: "busy" });
    await thread.api.cancelRun(created.value.run.run_id, { action: "interrupt", wait: true });
    await vi.waitFor(async () => expect(await thread.api.get()).toBeNull(), BOUND);
  });

  test("keeps its latest checkpoint if configured, and is pruned again after a change", async ({
    expect,
  }) => {
    const thread = newThread();
    await finish(thread, "branching", {});
    const keep = { strategy: "keep_latest", minutes: AT_ONCE } as const;
    const pruned = async (): Promise<void> => {
      await vi.waitFor(async () => expect(await expiry(thread)).toBeNull(), BOUND);
      expect((await rows(thread))["checkpoints"]).toBe(1);
    };
    await thread.api.patch({ metadata: {}, ttl: keep });
    await pruned();
    await finish(thread, "branching", {});
    await pruned();
    expect((await thread.api.get({ ttl: true }))?.ttl).toEqual({
      strategy: "keep_latest",
      ttl_minutes: AT_ONCE,
      expires_at: null,
    });
  });
});

describe("a thread that is created with a state", () => {
  const replayOf = (as_node: string, graph_id: string | null = "branching") => ({
    revision_id: null,
    checkpoint: null,
    graph_id,
    supersteps: [[{ values: { counter: 1, trail: ["made"] }, as_node }]],
  });
  const requestFor = (thread: TestThread) =>
    ({ scope: thread.scope, thread_id: thread.id, metadata: {}, if_exists: "do_nothing" }) as const;

  test("exists with it, once for all concurrent requests", async ({ expect }) => {
    const thread = newThread();
    const made = { ...requestFor(thread), replay: replayOf("first") };
    const answers = await Promise.all([1, 2, 3].map(() => thread.api.create(made)));
    expect(answers.map((answer) => answer.ok)).toEqual([true, true, true]);
    expect(await thread.api.get()).toMatchObject({ values: { counter: 1, trail: ["made"] } });
    expect((await rows(thread))["checkpoints"]).toBe(1);
  });

  test.for([["nobody"], ["first", null], ["first", "no-such-graph"]] as const)(
    "does not exist if its state cannot be written: %s",
    async ([node, graph = "branching"], { expect }) => {
      const thread = newThread();
      const made = { ...requestFor(thread), replay: replayOf(node, graph) };
      expect((await thread.api.create(made)).ok).toBe(false);
      expect(await thread.api.get()).toBeNull();
      expect((await thread.api.create(requestFor(thread))).ok).toBe(true);
      expect(await thread.api.get()).toMatchObject({ values: null });
    },
  );

  test("does not exist if its process has died in between", async ({ expect }) => {
    const thread = newThread();
    await thread.api.create({ ...requestFor(thread), replay: replayOf("first") });
    await runInDurableObject(thread.object, (_, { storage }) =>
      storage.sql.exec("UPDATE thread SET deleted = 1"),
    );
    await evictDurableObject(thread.object);
    expect(await thread.api.get()).toBeNull();
    expect((await thread.api.create(requestFor(thread))).ok).toBe(true);
    expect([(await thread.api.get())?.values, (await rows(thread))["checkpoints"]]).toEqual([
      null,
      0,
    ]);
  });
});
