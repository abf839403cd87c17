import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { assert, beforeAll, describe, expect, inject, test } from "vitest";
import { CheckpointTable } from "../../src/agent-server/threads/storage/checkpoint-table.ts";
import { ThreadTables } from "../../src/agent-server/threads/storage/thread-tables.ts";
import type {
  CheckpointPut,
  SerializedValue,
  WritesPut,
} from "../../src/graph-runtime/checkpoint-port.ts";
import { readJsonText } from "../../src/lib/json-answer.ts";
import { migrateIndex, newThread, type TestThread, textOf } from "./support.ts";

const GRAPH = "unserialisable";

/** A text that can be stored, although two of them exceed one RPC message. */
const LARGE = "x".repeat(20 * 1024 * 1024);

beforeAll(() => migrateIndex(inject("migrations")));

function update(thread: TestThread, values: object, asNode: string) {
  return thread.api.updateState({
    revision_id: null,
    checkpoint: null,
    graph_id: GRAPH,
    supersteps: [[{ values, as_node: asNode }]],
  });
}

async function run(thread: TestThread, input: object): Promise<unknown> {
  const created = await thread.run(
    GRAPH,
    { input, stream_mode: ["updates"] },
    { follow: "result" },
  );
  assert(created.ok);
  return JSON.parse(await textOf(created.value.stream));
}

function state(thread: TestThread) {
  return thread.api.getState({ revision_id: null, checkpoint: null, subgraphs: false });
}

/** Returns the lengths of the texts in the state that a thread shows. */
async function lengths(thread: TestThread): Promise<Record<string, number>> {
  const read = await state(thread);
  assert(read.ok);
  const { values } = JSON.parse((await readJsonText(read.value, 64 * 1024 * 1024)) ?? "");
  return Object.fromEntries(
    Object.entries<string>(values).map(([key, value]) => [key, value.length]),
  );
}

describe("a state that would be too large to be read", () => {
  test("is refused as an update, and the thread is not changed", async () => {
    const thread = newThread();
    await run(thread, { kind: "none" });
    expect(await update(thread, { kind: LARGE }, "make")).toMatchObject({ ok: true });
    expect(await update(thread, { after: LARGE }, "go_on")).toMatchObject({
      ok: false,
      code: "invalid_update",
      message: expect.stringMatching(
        /^The values of all channels have 4194\d{4} bytes together \(channel "after" has 20971522\), .* at most 31457280 can be stored\.$/,
      ),
    });
    expect(await lengths(thread)).toEqual({ kind: LARGE.length, after: "reached".length });
  });

  test("ends its run with a message, and the thread is not changed", async () => {
    const thread = newThread();
    await run(thread, { kind: LARGE });
    expect(await run(thread, { after: LARGE })).toEqual({
      __error__: {
        error: "CheckpointTooLargeError",
        message: expect.stringContaining('bytes together (channel "__start__" has 20971532)'),
      },
    });
    expect(await lengths(thread)).toEqual({ kind: LARGE.length, after: "reached".length });
  });

  test("includes an input that is too large for a call", async () => {
    const thread = newThread();
    await expect(run(thread, { kind: `${LARGE}ж` })).rejects.toMatchObject({
      code: "payload_too_large",
      message: expect.stringContaining("send them in parts"),
    });
    expect(await thread.api.get()).toBeNull();
  });

  test("does not include text with two bytes a character, but its thread does not show it", async () => {
    const thread = newThread();
    const half = "x".repeat(10 * 1024 * 1024);
    await run(thread, { kind: "none" });
    expect(await update(thread, { kind: `${half}ж` }, "make")).toMatchObject({ ok: true });
    expect(await update(thread, { after: half }, "go_on")).toMatchObject({ ok: true });
    expect(await thread.api.get()).toMatchObject({ status: "idle", values: null });
    expect(await lengths(thread)).toEqual({ kind: half.length + 1, after: half.length });
  });

  test("does not include large values with separate large pending writes", async () => {
    const thread = newThread();
    await run(thread, { kind: LARGE });
    const query = { revision_id: null, checkpoint: null, before: null, filter: null, limit: 10 };
    const history = await thread.api.getHistory(query);
    assert(history.ok);
    const states = JSON.parse((await readJsonText(history.value, 128 * 1024 * 1024)) ?? "[]");
    expect(states.map(({ next }: { next: unknown }) => next)).toEqual([
      [],
      ["go_on"],
      ["make"],
      ["__start__"],
    ]);
  });
});

describe("a checkpoint from before this limit", () => {
  const typed = (value: unknown): SerializedValue => [
    "json",
    new TextEncoder().encode(JSON.stringify(value)),
  ];
  const put: CheckpointPut = {
    ns: "",
    id: "ffffffff-0000-6000-8000-000000000000",
    parent_id: null,
    format: 4,
    checkpoint: typed({
      v: 4,
      id: "ffffffff-0000-6000-8000-000000000000",
      ts: "2026-01-01T00:00:00.000Z",
      channel_versions: { kind: 1, after: 1 },
      versions_seen: {},
    }),
    metadata: typed({ source: "update", step: 0, parents: {} }),
    channels: [],
    inherited: [],
  };

  async function newLargeThread(): Promise<TestThread> {
    const thread = newThread();
    await run(thread, { kind: "none" });
    const value = typed(LARGE);
    await runInDurableObject(thread.object, (_, { storage }) => {
      const channels: CheckpointPut["channels"] = [
        ["kind", value],
        ["after", value],
      ];
      storage.transactionSync(() =>
        new CheckpointTable(storage.sql, new ThreadTables(storage.sql)).apply(
          [{ put: { ...put, channels } }],
          null,
        ),
      );
    });
    // The object in memory would not look for the table that was created beside it.
    await evictDurableObject(thread.object);
    return thread;
  }

  const message = expect.stringMatching(
    /^Checkpoint ffffffff-\S+ cannot be read: .* more than 31457280 bytes$/,
  );

  test("causes an error message", async () => {
    const thread = await newLargeThread();
    expect(await state(thread)).toEqual({ ok: false, code: "graph_failed", message });
    const query = { revision_id: null, checkpoint: null, before: null, filter: null, limit: 10 };
    expect(await thread.api.getHistory(query)).toEqual({
      ok: false,
      code: "graph_failed",
      message,
    });
    expect(await update(thread, { kind: "small" }, "make")).toEqual({
      ok: false,
      code: "invalid_update",
      message,
    });
    expect(await run(thread, { kind: "small" })).toEqual({
      __error__: { error: "Error", message },
    });
  });

  test("leaves the previous states readable", async () => {
    const thread = await newLargeThread();
    const query = { revision_id: null, checkpoint: null, filter: null, limit: 1 };
    const history = await thread.api.getHistory({ ...query, before: put.id });
    assert(history.ok);
    const [newest] = JSON.parse((await readJsonText(history.value, 1_000_000)) ?? "");
    expect(newest.values).toEqual({ kind: "none", after: "reached" });
  });

  test("is read in parts only by code that supports them", async () => {
    const thread = newThread();
    await run(thread, { kind: "none" });
    const value = typed(LARGE);
    await runInDurableObject(thread.object, (_, { storage }) => {
      const table = new CheckpointTable(storage.sql, new ThreadTables(storage.sql));
      const writes: WritesPut = {
        ns: "",
        checkpoint_id: put.id,
        task_id: "t",
        writes: [[0, "kind", value]],
      };
      storage.transactionSync(() =>
        table.apply([{ put: { ...put, channels: [["kind", value]] } }, { writes }], null),
      );
      expect(table.start()).toBeNull();
      expect(() => table.get("", put.id)).toThrow("Deploy the project again");
      expect(() => table.page({ ns: "" })).toThrow("Deploy the project again");
      expect(table.get("", put.id, { apart: true })).toMatchObject({
        writes: [],
        writes_apart: true,
      });
      expect(table.writes("", put.id)).toMatchObject([["t", "kind", ["json", expect.anything()]]]);
    });
  });
});
