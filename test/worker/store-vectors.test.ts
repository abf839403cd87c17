import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";
import { storeOf } from "../../src/agent-server/store/store-object.ts";
import { StoreIndex } from "../../src/graph-runtime/store-index.ts";
import type { StoreOperation, StoreTurn } from "../../src/graph-runtime/store-operations.ts";
import { DEFAULT_STORE } from "../../src/graph-runtime/store-settings.ts";
import { ThreadStore } from "../../src/graph-runtime/thread-store.ts";

const DIMS = 8;

/** Returns a vector of the numbers in a text. */
function vectorOf(text: string): number[] {
  const numbers = text.split(" ").map(Number);
  return Array.from({ length: DIMS }, (_, index) => numbers[index] ?? 0);
}

function newStore(fields = ["text"]) {
  const stub = storeOf(env, { workspaceId: crypto.randomUUID(), deploymentId: "default" });
  const turns: StoreTurn[] = [];
  const calls: string[][] = [];
  const embed = async (texts: string[]) => {
    calls.push(texts);
    return texts.map(vectorOf);
  };
  const index = new StoreIndex({
    load: async () => ({ embed }),
    exportName: "embed",
    dims: DIMS,
    fields,
  });
  const storeTurn = async (operations: StoreOperation[]): Promise<StoreTurn> => {
    const turn = await runInDurableObject(stub, (object) => object.execute(operations));
    turns.push(turn);
    return turn;
  };
  const store = new ThreadStore({ storeTurn }, { settings: DEFAULT_STORE, index });
  return { stub, store, turns, calls };
}

function told(items: { key: string; score?: number }[]) {
  return items.map(({ key, score }) => [key, Math.round(Number(score) * 1000) / 1000]);
}

describe("a search by meaning", () => {
  test("returns the nearest items first, by cosine", async ({ expect }) => {
    const { store, calls } = newStore();
    await store.put(["a"], "same", { text: "10 0" });
    await store.put(["a"], "near", { text: "3 4" });
    await store.put(["a"], "across", { text: "0 1" });
    await store.put(["a"], "opposite", { text: "-1 0" });
    await store.put(["b"], "elsewhere", { text: "1 0" });
    await store.put(["a"], "silent", { other: "1 0" });
    expect(told(await store.search(["a"], { query: "1 0" }))).toEqual([
      ["same", 1],
      ["near", 0.6],
      ["across", 0],
      ["opposite", -1],
    ]);
    expect(told(await store.search(["a"], { query: "1 0", limit: 1, offset: 1 }))).toEqual([
      ["near", 0.6],
    ]);
    expect(await store.search(["a"], { query: "1 0", limit: 0 })).toEqual([]);
    expect(calls.at(-1)).toEqual(["1 0"]);
  });

  test("ranks only items that its filter matches", async ({ expect }) => {
    const { store } = newStore();
    for (let n = 0; n < 20; n += 1) {
      await store.put(["a"], `${n}`, { text: `${n} 10`, even: n % 2 === 0 });
    }
    const options = { query: "1 0", filter: { even: true }, limit: 3 };
    const found = await store.search(["a"], options);
    expect(found.map(({ key }) => key)).toEqual(["18", "16", "14"]);
  });

  test("uses the best text of an item, and only those that its put names", async ({ expect }) => {
    const { store } = newStore(["parts[*].text"]);
    const parts = [{ text: "0 1" }, { text: "1 0" }];
    await store.put(["a"], "two", { parts });
    await store.put(["a"], "one", { parts, title: "0 1" }, ["title"]);
    await store.put(["a"], "none", { parts }, false);
    expect(told(await store.search(["a"], { query: "1 0" }))).toEqual([
      ["two", 1],
      ["one", 0],
    ]);
    await store.put(["a"], "two", { parts: [] });
    await store.delete(["a"], "one");
    expect(await store.search(["a"], { query: "1 0" })).toEqual([]);
  });

  test("continues where a turn has ended, and is exact", async ({ expect }) => {
    const { stub, store, turns } = newStore();
    const count = 12_000;
    await store.put(["first"], "k", { text: "0" });
    await runInDurableObject(stub, (_, { storage }) =>
      storage.transactionSync(() => {
        for (let n = 0; n < count; n += 1) {
          const namespace = JSON.stringify(["many", `${n % 7}`]);
          // The score is higher the nearer `n` is to 5000.
          const score = 0.9 - Math.abs(n - 5000) / count;
          const vector = new Float32Array(DIMS);
          vector.set([score, Math.sqrt(1 - score * score)]);
          storage.sql.exec("INSERT INTO items VALUES (?, ?, '{}', 0, 0)", namespace, `${n}`);
          storage.sql.exec(
            "INSERT INTO vectors VALUES (?, ?, '', ?)",
            namespace,
            `${n}`,
            vector.buffer,
          );
        }
      }),
    );
    turns.length = 0;
    const found = await store.search(["many"], { query: "1 0", limit: 5, offset: 4 });
    const keys = found.map(({ key }) => Math.abs(Number(key) - 5000));
    expect(keys).toEqual([2, 3, 3, 4, 4]);
    expect(turns.length).toBeGreaterThan(2);
    // Each vector is compared once, and the items of the answer are read.
    expect(turns.reduce((sum, { rows }) => sum + rows, 0)).toBe(count + 5);
    for (const { rows } of turns) expect(rows).toBeLessThanOrEqual(5010);
  });

  test("ignores vectors of another length, which another model made", async ({ expect }) => {
    const { stub, store } = newStore();
    await store.put(["a"], "new", { text: "-1 0" });
    await store.put(["a"], "old", { text: "1 0" });
    const short = new Float32Array([1, 0]).buffer;
    await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec("UPDATE vectors SET vector = ? WHERE key = 'old'", short),
    );
    const found = await store.search(["a"], { query: "1 0" });
    expect(found.map(({ key }) => key)).toEqual(["new"]);
  });

  test("shows nothing that has expired or that the caller may not see", async ({ expect }) => {
    const { stub, store } = newStore();
    await store.put(["a"], "gone", { text: "1 0", owner: "ada" });
    await store.put(["a"], "ada's", { text: "1 0", owner: "ada" });
    await store.put(["a"], "bob's", { text: "1 0", owner: "bob" });
    const found = await runInDurableObject(stub, (object, { storage }) => {
      storage.sql.exec(
        "INSERT INTO expiries SELECT namespace, key, 1, 1 FROM items WHERE key = 'gone'",
      );
      const vector = new Float32Array(vectorOf("1 0"));
      return object.read(
        { op: "search", namespace_prefix: ["a"], limit: 9, offset: 0, vector },
        { op: "equals", key: "owner", value: "ada" },
      );
    });
    expect(found.answers).toMatchObject([[{ key: "ada's", score: 1 }]]);
  });

  test("reads large items in bounded turns", async ({ expect }) => {
    const { store, turns } = newStore();
    const filler = "x".repeat(1_500_000);
    for (let n = 0; n < 25; n += 1) await store.put(["a"], `${n}`, { text: `1 ${n}`, filler });
    turns.length = 0;
    const found = await store.search(["a"], { query: "1 0", limit: 25 });
    expect(found.map(({ key }) => Number(key))).toEqual(Array.from({ length: 25 }, (_, n) => n));
    expect(turns.length).toBeGreaterThan(1);
  });
});

describe("the embedded texts", () => {
  test("are those of a batch, each once and none empty", async ({ expect }) => {
    const { store, calls } = newStore();
    await store.batch([
      { namespace: ["a"], key: "1", value: { text: "1 0" } },
      { namespace: ["a"], key: "2", value: { text: "1 0" } },
      { namespace: ["a"], key: "3", value: { text: " " } },
      { namespace: ["a"], key: "4", value: null },
    ]);
    expect(calls).toEqual([["1 0"]]);
    await store.put(["a"], "5", { text: "" });
    expect(calls).toHaveLength(1);
  });

  test("are sent in calls of bounded size", async ({ expect }) => {
    const { store, turns } = newStore(["texts[*]"]);
    const texts = Array.from({ length: 100 }, (_, n) => `1 ${n}`);
    await store.batch(
      Array.from({ length: 5 }, (_, n) => ({ namespace: ["a"], key: `${n}`, value: { texts } })),
    );
    expect(turns).toHaveLength(1);
    await expect(store.put(["a"], "k", { texts: [...texts, "9"] })).rejects.toThrow(
      "at most 100 texts in the index, not 101",
    );
  });
});
