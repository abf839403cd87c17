import { test } from "vitest";
import type { CheckpointTable } from "../../src/agent-server/threads/storage/checkpoint-table.ts";
import { ExecutionPort, ReadPort } from "../../src/agent-server/threads/runs/run-port.ts";
import type { StoreOperation, StoreTurn } from "../../src/graph-runtime/store-operations.ts";

const PAGE = { checkpoints: [], next: null, rows: 7, bytes: 70 };

function tableOf(page: (query: { limit?: number }) => unknown): CheckpointTable {
  return { page } as unknown as CheckpointTable;
}

function portWithStore(store: () => Promise<StoreTurn>, counted: unknown[] = []): ExecutionPort {
  return new ExecutionPort(
    tableOf(() => PAGE),
    {
      commit: async () => ({ ok: true, follow: false }),
      cancelled: Promise.resolve(),
      trace: async () => {},
      count: (use) => counted.push(use),
      store,
    },
  );
}

const get: StoreOperation = { op: "get", namespace: ["a"], key: "k" };

test.for([undefined, 1, 3, 100])("a page of %s checkpoints is read", async (limit, { expect }) => {
  const limits: unknown[] = [];
  const table = tableOf((query) => {
    limits.push(query.limit);
    return PAGE;
  });
  const port = new ReadPort(table, () => {});
  expect(await port.checkpointPage({ limit })).toEqual({ checkpoints: [], next: null });
  expect(await port.listCheckpoints({ limit })).toEqual([]);
  expect(limits).toEqual([limit, limit]);
});

test.for([101, 1e9, Infinity, 0, -1, 1.5, "many", null])(
  "a page of %s checkpoints is refused",
  async (limit, { expect }) => {
    const table = tableOf(() => expect.unreachable());
    const port = new ReadPort(table, () => {});
    const text = '"limit" should be an integer from 1 to 100 checkpoints';
    await expect(port.checkpointPage({ limit: limit as number })).rejects.toThrow(text);
    await expect(port.listCheckpoints({ limit: limit as number })).rejects.toThrow(text);
  },
);

test("code that does not support short pages gets none", async ({ expect }) => {
  const table = tableOf(() => ({ ...PAGE, next: "1" }));
  const port = new ReadPort(table, () => {});
  expect(await port.checkpointPage({ limit: 5 })).toEqual({ checkpoints: [], next: "1" });
  await expect(port.listCheckpoints({ limit: 5 })).rejects.toThrow('lower "limit"');
});

test("code that does not support turns of the store gets all its answers, or an error", async ({
  expect,
}) => {
  const turn = { answers: [null], begun: null, rows: 1, bytes: 0 };
  const port = portWithStore(async () => turn);
  expect(await port.store([get])).toEqual([null]);
  await expect(port.store([get, get])).rejects.toThrow("ask for less at once");
});

test("reads and writes are counted", async ({ expect }) => {
  const counted: unknown[] = [];
  const turn = { answers: [null, null], begun: null, rows: 3, bytes: 30 };
  const port = portWithStore(async () => turn, counted);
  await port.storeTurn([get, get]);
  await port.checkpointPage({});
  expect(counted).toEqual([
    { operations: 2, rows: 3, bytes: 30 },
    { operations: 1, rows: 7, bytes: 70 },
  ]);
});

test("calls are handled one after the other, and refused if too many wait", async ({ expect }) => {
  let atWork = 0;
  let most = 0;
  const port = portWithStore(async () => {
    atWork += 1;
    most = Math.max(most, atWork);
    await scheduler.wait(0);
    atWork -= 1;
    return { answers: [null], begun: null, rows: 1, bytes: 0 };
  });
  const calls = Array.from({ length: 1001 }, () => port.storeTurn([get]));
  await expect(calls.pop()).rejects.toThrow("await some of them first");
  await Promise.all(calls);
  expect(most).toBe(1);
  await expect(port.storeTurn([get])).resolves.toMatchObject({ answers: [null] });
});

test("a failing call does not stop the next one", async ({ expect }) => {
  let calls = 0;
  const port = portWithStore(async () => {
    calls += 1;
    if (calls === 1) throw new Error("the store is gone");
    return { answers: [null], begun: null, rows: 1, bytes: 0 };
  });
  const failing = port.storeTurn([get]);
  const following = port.storeTurn([get]);
  await expect(failing).rejects.toThrow("the store is gone");
  expect((await following).answers).toEqual([null]);
});
