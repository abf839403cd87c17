import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";
import { storeOf } from "../../src/agent-server/store/store-object.ts";
import type { StoreOperation, StoreTurn } from "../../src/graph-runtime/store-operations.ts";
import { ThreadStore } from "../../src/graph-runtime/thread-store.ts";

/** Opens a store like that of deployed code, and records the cost of each of its calls. */
function newStore() {
  const stub = storeOf(env, { workspaceId: crypto.randomUUID(), deploymentId: "default" });
  const turns: StoreTurn[] = [];
  const execute = async (operations: StoreOperation[]): Promise<StoreTurn> => {
    const turn = await runInDurableObject(stub, (object) => object.execute(operations));
    turns.push(turn);
    return turn;
  };
  const store = new ThreadStore({ storeTurn: execute });
  /** Writes rows without the API; the numbers are their update times. */
  const fill = async (
    count: number,
    row: (index: number) => { namespace: string[]; value?: string },
  ): Promise<void> => {
    await execute([]);
    turns.length = 0;
    await runInDurableObject(stub, (_, { storage }) =>
      storage.transactionSync(() => {
        for (let index = 0; index < count; index += 1) {
          const { namespace, value = "{}" } = row(index);
          storage.sql.exec(
            "INSERT INTO items (namespace, key, value, created_at, updated_at) VALUES (?, ?, ?, 0, ?)",
            JSON.stringify(namespace),
            `key ${index}`,
            value,
            index,
          );
        }
      }),
    );
  };
  return { stub, store, turns, execute, fill };
}

function search(fields: object = {}): StoreOperation {
  return { op: "search", namespace_prefix: [], limit: 10, offset: 0, ...fields };
}

describe("a search", () => {
  test("with any limit reads a bounded part of large items in a turn", async ({ expect }) => {
    const { store, turns, fill } = newStore();
    const value = JSON.stringify({ text: "x".repeat(1_000_000) });
    await fill(20, () => ({ namespace: ["large"], value }));
    const found = await store.search(["large"], { limit: 1e9 });
    expect(found.map(({ key }) => key)).toEqual(
      Array.from({ length: 20 }, (_, index) => `key ${19 - index}`),
    );
    expect(turns.length).toBeGreaterThan(1);
    for (const { bytes } of turns) expect(bytes).toBeLessThan(10_000_000);
  });

  test("finds few among many below one prefix without reading the others", async ({ expect }) => {
    const { store, turns, fill } = newStore();
    await fill(8000, (index) => ({ namespace: index % 1000 === 5 ? ["few"] : ["many"] }));
    const found = await store.search(["few"], { limit: 100 });
    expect(found.map(({ key }) => key)).toEqual(
      [7005, 6005, 5005, 4005, 3005, 2005, 1005, 5].map((index) => `key ${index}`),
    );
    expect(turns).toHaveLength(1);
    expect(turns[0]?.rows).toBeLessThan(50);
  });

  test.for([
    ["of all items", []],
    ["below a prefix of many", ["many"]],
  ] as const)("%s continues where a turn has ended", async ([, prefix], { expect }) => {
    const { store, turns, fill } = newStore();
    // Many items have the same time.
    await fill(9000, (index) => ({
      namespace: ["many", `${index % 7}`],
      value: `{"third":${index % 3 === 0}}`,
    }));
    const options = { filter: { third: true }, limit: 2500, offset: 400 };
    const found = await store.search([...prefix], options);
    const thirds = Array.from({ length: 3000 }, (_, index) => `key ${(2999 - index) * 3}`);
    expect(found.map(({ key }) => key)).toEqual(thirds.slice(400, 2900));
    expect(turns.length).toBeGreaterThan(1);
    for (const { rows } of turns) expect(rows).toBeLessThanOrEqual(5002);
    expect(await store.search([...prefix], { filter: { third: 1 } })).toEqual([]);
    expect((await store.search([...prefix], { offset: 8998 })).map(({ key }) => key)).toEqual([
      "key 1",
      "key 0",
    ]);
  });

  test("is sorted even if all items have the same time", async ({ expect }) => {
    const { stub, store, fill } = newStore();
    await fill(6000, (index) => ({ namespace: ["same", `${index % 2}`] }));
    await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec("UPDATE items SET updated_at = 5"),
    );
    const found = await store.search([], { limit: 1e9 });
    const places = found.map(({ namespace, key }) => `${namespace[1]} ${key}`);
    expect(new Set(places).size).toBe(6000);
    expect(places).toEqual(places.toSorted());
  });

  test("says what to do if its answer would be too large", async ({ expect }) => {
    const { store, fill } = newStore();
    const value = JSON.stringify({ text: "x".repeat(1_800_000) });
    await fill(45, () => ({ namespace: ["large"], value }));
    await expect(store.search([], { limit: 1e9 })).rejects.toThrow(/lower "limit"/);
  });
});

describe("a list of namespaces", () => {
  test("costs a look-up for each, whatever its items", async ({ expect }) => {
    const { store, turns, fill } = newStore();
    await fill(6000, (index) => ({ namespace: ["a", `${index % 3}`, `${index % 2}`] }));
    expect(await store.listNamespaces({ maxDepth: 2 })).toEqual([
      ["a", "0"],
      ["a", "1"],
      ["a", "2"],
    ]);
    expect(turns).toHaveLength(1);
    expect(turns[0]?.rows).toBeLessThan(10);
    expect(await store.listNamespaces({ prefix: ["a", "*", "1"], suffix: ["1"] })).toEqual([
      ["a", "0", "1"],
      ["a", "1", "1"],
      ["a", "2", "1"],
    ]);
    expect(await store.listNamespaces({ prefix: ["b"] })).toEqual([]);
  });

  test("is read in bounded turns if there are many long ones", async ({ expect }) => {
    const { store, turns, fill } = newStore();
    await fill(9000, (index) => ({ namespace: [`${10_000 + index}`.padEnd(1000, "x")] }));
    const found = await store.listNamespaces({ limit: 1e9, offset: 10 });
    expect(found).toHaveLength(8990);
    expect(found[0]?.[0]?.startsWith("10010x")).toBe(true);
    expect(turns.length).toBeGreaterThan(1);
    for (const { rows } of turns) expect(rows).toBeLessThanOrEqual(5000);
  });
});

describe("a call", () => {
  test("of many large reads is answered in parts, in order", async ({ expect }) => {
    const { store, turns, fill } = newStore();
    const value = JSON.stringify({ text: "x".repeat(1_000_000) });
    await fill(12, () => ({ namespace: ["large"], value }));
    const namespace = ["large"];
    const found = await store.batch(
      Array.from({ length: 12 }, (_, index) => ({ namespace, key: `key ${index}` })),
    );
    expect(found.map((item) => item?.key)).toEqual(
      Array.from({ length: 12 }, (_, index) => `key ${index}`),
    );
    expect(turns.length).toBeGreaterThan(1);
  });

  test("of several searches keeps their answers apart", async ({ expect }) => {
    const { store, turns, fill } = newStore();
    await fill(6000, (index) => ({ namespace: [index % 2 === 0 ? "even" : "odd"] }));
    const find = (prefix: string, limit: number) => ({
      namespacePrefix: [prefix],
      limit,
      offset: 0,
    });
    const [even, missing, odd] = await store.batch([
      find("even", 3000),
      { namespace: ["even"], key: "none" },
      find("odd", 2),
    ] as const);
    expect(even).toHaveLength(3000);
    expect(missing).toBeNull();
    expect(odd?.map(({ key }) => key)).toEqual(["key 5999", "key 5997"]);
    expect(turns.length).toBeGreaterThan(1);
  });

  test("of more operations than one turn allows is made in several", async ({ expect }) => {
    const { store, turns } = newStore();
    const namespace = ["n"];
    const puts = Array.from({ length: 1001 }, (_, index) => ({
      namespace,
      key: `${index}`,
      value: { index },
    }));
    await store.batch(puts);
    expect(turns).toHaveLength(2);
    expect((await store.get(namespace, "1000"))?.value).toEqual({ index: 1000 });
  });

  test.for([
    [
      "too many operations",
      Array.from({ length: 1001 }, () => search()),
      "at most 1000 operations",
    ],
    ["an unknown operation", [{ op: "drop" }], '"op" of a store operation'],
    ["no operation", [null], '"op" of a store operation'],
    ["a limit that is not a number", [search({ limit: "all" })], '"limit" of a store operation'],
    ["a negative offset", [search({ offset: -1 })], '"offset" of a store operation'],
    ["a namespace that is not a list", [search({ namespace_prefix: "a" })], '"namespace_prefix"'],
    ["a filter that is not an object", [search({ filter: [] })], '"filter" of a store operation'],
    ["an item without a key", [{ op: "put", namespace: ["a"], value: {} }], '"key"'],
    [
      "an item that is too large",
      [{ op: "put", namespace: ["a"], key: "k", value: { text: "x".repeat(2_000_000) } }],
      '"value" of an item of the store has 2000011 bytes',
    ],
  ] as const)("is refused with %s", async ([, operations, text], { expect }) => {
    const { stub } = newStore();
    await expect(
      runInDurableObject(stub, (object) =>
        object.execute(operations as unknown as StoreOperation[]),
      ),
    ).rejects.toThrow(text);
  });
});
