import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";
import { storeOf } from "../../src/agent-server/store/store-object.ts";
import type { StoredItem, StoreOperation } from "../../src/graph-runtime/store-operations.ts";
import { ThreadStore } from "../../src/graph-runtime/thread-store.ts";

const MINUTE_MS = 60_000;

function newStore() {
  const stub = storeOf(env, { workspaceId: crypto.randomUUID(), deploymentId: "default" });
  const execute = (operations: StoreOperation[]) =>
    runInDurableObject(stub, (object) => object.execute(operations));
  const put = (key: string, ttl?: { minutes: number; sweep_minutes: number }) =>
    execute([{ op: "put", namespace: ["kept"], key, value: { key }, ttl }]);
  const sql = <T>(query: string): Promise<T[]> =>
    runInDurableObject(
      stub,
      (_, { storage }) => storage.sql.exec(query).toArray() as unknown as T[],
    );
  /** Makes items expire. */
  const expire = (where = "true"): Promise<unknown[]> =>
    sql(`UPDATE expiries SET expires_at = 1 WHERE ${where}`);
  const alarmAt = () => runInDurableObject(stub, (_, { storage }) => storage.getAlarm());
  return {
    stub,
    store: new ThreadStore({ storeTurn: execute }),
    execute,
    put,
    sql,
    expire,
    alarmAt,
  };
}

const HOUR = { minutes: 60, sweep_minutes: 5 };

describe("an expired item", () => {
  test("is missing for all operations, before it was swept", async ({ expect }) => {
    const { store, put, expire, sql } = newStore();
    await put("a", HOUR);
    await put("b");
    await store.put(["gone"], "c", {});
    await sql("INSERT INTO expiries SELECT namespace, key, 1, 1 FROM items WHERE key = 'c'");
    await expire();
    expect(await store.get(["kept"], "a")).toBeNull();
    expect((await store.search([])).map(({ key }) => key)).toEqual(["b"]);
    expect(await store.search(["kept"], { offset: 1 })).toEqual([]);
    expect(await store.listNamespaces()).toEqual([["kept"]]);
  });

  test("is created again by a put", async ({ expect }) => {
    const { store, put, expire, sql } = newStore();
    await put("a", HOUR);
    await sql("UPDATE items SET created_at = 1");
    await expire();
    await put("a");
    expect((await store.get(["kept"], "a"))?.createdAt.getTime()).toBeGreaterThan(1);
    expect(await sql("SELECT * FROM expiries")).toEqual([]);
  });

  test("does not block a caller who could not have seen it", async ({ expect }) => {
    const { stub, put, expire } = newStore();
    await put("a", HOUR);
    const ofBob = () =>
      runInDurableObject(stub, (object) =>
        object.put(
          { op: "put", namespace: ["kept"], key: "a", value: { owner: "bob" } },
          { op: "equals", key: "owner", value: "bob" },
        ),
      );
    expect(await ofBob()).toBe(false);
    await expire();
    expect(await ofBob()).toBe(true);
  });
});

describe("the sweep", () => {
  test("removes expired items in turns, and wakes for the next ones", async ({ expect }) => {
    const { stub, put, sql, expire, alarmAt, execute } = newStore();
    const value = { text: "x" };
    const vectors = [{ path: "$#0", vector: new Float32Array([1, 2]) }];
    for (let batch = 0; batch < 3; batch += 1) {
      await execute(
        Array.from({ length: 500 }, (_, index) => ({
          op: "put",
          namespace: ["many"],
          key: `${batch} ${index}`,
          value,
          ttl: HOUR,
          vectors,
        })),
      );
    }
    await put("later", HOUR);
    await put("for ever");
    await expire("key <> 'later'");
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await sql("SELECT key FROM items ORDER BY key")).toEqual([
      { key: "for ever" },
      { key: "later" },
    ]);
    expect(await sql("SELECT key FROM expiries")).toEqual([{ key: "later" }]);
    expect(await sql("SELECT key FROM vectors")).toEqual([]);
    expect(await alarmAt()).toBeGreaterThan(Date.now() + 55 * MINUTE_MS);
    await expire();
    await runDurableObjectAlarm(stub);
    expect(await alarmAt()).toBeNull();
    expect(await runDurableObjectAlarm(stub)).toBe(false);
  });

  test("continues after the object died in it", async ({ expect }) => {
    const { stub, put, expire, sql, alarmAt } = newStore();
    await put("a", HOUR);
    await put("b", HOUR);
    await sql(
      "CREATE TRIGGER dies BEFORE DELETE ON items WHEN old.key = 'b' BEGIN SELECT raise(ABORT, 'dead'); END",
    );
    await expire();
    const sweep = () => runInDurableObject(stub, (object) => object.alarm());
    await expect(sweep()).rejects.toThrow("dead");
    // The whole turn was rolled back, and none of it is visible.
    expect(await sql("SELECT count(*) AS n FROM expiries")).toEqual([{ n: 2 }]);
    await sql("DROP TRIGGER dies");
    await evictDurableObject(stub);
    expect(await alarmAt()).not.toBeNull();
    await runDurableObjectAlarm(stub);
    expect(await sql("SELECT key FROM items")).toEqual([]);
  });

  test("runs no more often than the project wants", async ({ expect }) => {
    const { put, alarmAt } = newStore();
    await put("a", { minutes: 1, sweep_minutes: 30 });
    expect(await alarmAt()).toBeGreaterThan(Date.now() + 29 * MINUTE_MS);
    await put("b", { minutes: 1, sweep_minutes: 2 });
    expect(await alarmAt()).toBeLessThan(Date.now() + 3 * MINUTE_MS);
  });

  test("is not scheduled if nothing expires", async ({ expect }) => {
    const { put, alarmAt } = newStore();
    await put("a");
    expect(await alarmAt()).toBeNull();
  });
});

describe("reading an item", () => {
  test.for<[string, StoreOperation]>([
    ["get", { op: "get", namespace: ["kept"], key: "a" }],
    ["search", { op: "search", namespace_prefix: [], limit: 1, offset: 0 }],
  ])("with %s extends its lifetime if requested", async ([, read], { expect }) => {
    const { put, sql, execute } = newStore();
    await put("a", HOUR);
    const soon = Date.now() + MINUTE_MS;
    await sql(`UPDATE expiries SET expires_at = ${soon}`);
    const expiry = async () =>
      (await sql<{ at: number }>("SELECT expires_at AS at FROM expiries"))[0]?.at;
    await execute([{ ...read, refresh_ttl: false } as StoreOperation]);
    expect(await expiry()).toBe(soon);
    await execute([{ ...read, refresh_ttl: true } as StoreOperation]);
    const refreshed = await expiry();
    expect(refreshed).toBeGreaterThanOrEqual(soon + 59 * MINUTE_MS);
    // The extension is a little longer, so that the next reads have nothing to write.
    expect(refreshed).toBeLessThanOrEqual(Date.now() + 61 * MINUTE_MS);
    await execute([{ ...read, refresh_ttl: true } as StoreOperation]);
    expect(await expiry()).toBe(refreshed);
  });

  test("returns the value although it was extended", async ({ expect }) => {
    const { execute, put } = newStore();
    await put("a", HOUR);
    const { answers } = await execute([
      { op: "get", namespace: ["kept"], key: "a", refresh_ttl: true },
    ]);
    expect((answers[0] as StoredItem).value).toEqual({ key: "a" });
  });
});

test.for([
  ["ttl", { op: "put", namespace: ["a"], key: "k", value: {}, ttl: { minutes: 0 } }],
  ["ttl", { op: "put", namespace: ["a"], key: "k", value: {}, ttl: { minutes: NaN } }],
  ["vectors", { op: "put", namespace: ["a"], key: "k", value: {}, vectors: [{ path: "" }] }],
  ["vector", { op: "search", namespace_prefix: [], limit: 1, offset: 0, vector: [1] }],
  [
    "limit",
    { op: "search", namespace_prefix: [], limit: 1001, offset: 0, vector: new Float32Array([1]) },
  ],
] as const)("an operation with a wrong %s is refused", async ([field, operation], { expect }) => {
  const { execute } = newStore();
  await expect(execute([operation as unknown as StoreOperation])).rejects.toThrow(`"${field}"`);
});
