import type { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { testInWorkspace } from "../support/shared-server.ts";

const test = testInWorkspace();

/** Makes a graph perform operations on its store, in a separate run. */
async function perform(client: Client, operations: object[], via = "runtime"): Promise<unknown[]> {
  const values = await client.runs.wait(null, "store", { input: { operations, via } });
  return (values as { results: unknown[] }).results;
}

function put(namespace: string[], key: string, value: object) {
  return { op: "put", namespace, key, value };
}

describe("the store of a graph", () => {
  test("returns what was put, in the same run and in later ones", async ({ client, expect }) => {
    const namespace = ["durable", "users"];
    const value = { name: "Ada", nested: { list: [1, null, "two"] } };
    const get = { op: "get", namespace, key: "ada" };
    expect(await perform(client, [get, put(namespace, "ada", value), get])).toEqual([
      null,
      null,
      value,
    ]);
    expect(await perform(client, [get])).toEqual([value]);
    expect(
      await perform(client, [
        { ...get, key: "bob" },
        { ...get, namespace: ["durable"] },
      ]),
    ).toEqual([null, null]);
  });

  test("is available by the ambient function, too", async ({ client, expect }) => {
    const get = { op: "get", namespace: ["ambient"], key: "k" };
    expect(await perform(client, [put(["ambient"], "k", { v: 1 }), get], "ambient")).toEqual([
      null,
      { v: 1 },
    ]);
  });

  test("replaces a whole value, and deletes it", async ({ client, expect }) => {
    const namespace = ["replaced"];
    const get = { op: "get", namespace, key: "k" };
    const results = await perform(client, [
      put(namespace, "k", { a: 1, b: 1 }),
      put(namespace, "k", { a: 2 }),
      get,
      { op: "delete", namespace, key: "k" },
      get,
      { op: "delete", namespace, key: "k" },
    ]);
    expect(results).toEqual([null, null, { a: 2 }, null, null, null]);
  });

  test("is searched by a namespace prefix and by values", async ({ client, expect }) => {
    await perform(client, [
      put(["searched", "fruit"], "apple", { colour: "red", grams: 150 }),
      put(["searched", "fruit"], "plum", { colour: "blue", grams: 30 }),
      put(["searched", "stone"], "ruby", { colour: "red", grams: 1 }),
      put(["searchedtoo"], "other", { colour: "red" }),
    ]);
    const keys = async (search: object) => {
      const [found] = await perform(client, [{ op: "search", prefix: ["searched"], ...search }]);
      return (found as { key: string }[]).map(({ key }) => key).toSorted();
    };
    expect(await keys({})).toEqual(["apple", "plum", "ruby"]);
    expect(await keys({ prefix: ["searched", "fruit"] })).toEqual(["apple", "plum"]);
    expect(await keys({ filter: { colour: "red" } })).toEqual(["apple", "ruby"]);
    expect(await keys({ filter: { colour: { $ne: "red" } } })).toEqual(["plum"]);
    expect(await keys({ filter: { grams: { $gte: 30 } } })).toEqual(["apple", "plum"]);
    expect(await keys({ filter: { colour: "red", grams: { $lt: 10 } } })).toEqual(["ruby"]);
    expect(await keys({ limit: 2 })).toHaveLength(2);
    const [items] = await perform(client, [{ op: "search", prefix: ["searched", "stone"] }]);
    expect(items).toEqual([
      { namespace: ["searched", "stone"], key: "ruby", value: { colour: "red", grams: 1 } },
    ]);
  });

  test("lists its namespaces, cut to a depth on request", async ({ client, expect }) => {
    await perform(client, [
      put(["listed", "a", "x"], "k", {}),
      put(["listed", "a", "y"], "k", {}),
      put(["listed", "b"], "k", {}),
    ]);
    const list = async (options: object) => {
      const operation = { op: "list_namespaces", prefix: ["listed"], ...options };
      const [found] = await perform(client, [operation]);
      return (found as string[][]).map((namespace) => namespace.join("/")).toSorted();
    };
    expect(await list({})).toEqual(["listed/a/x", "listed/a/y", "listed/b"]);
    expect(await list({ max_depth: 2 })).toEqual(["listed/a", "listed/b"]);
    expect(await list({ prefix: ["listed", "a"] })).toEqual(["listed/a/x", "listed/a/y"]);
  });

  test("keeps all items of concurrent runs", async ({ client, expect }) => {
    const keys = Array.from({ length: 10 }, (_, index) => `key ${index}`);
    await Promise.all(keys.map((key) => perform(client, [put(["concurrent"], key, { key })])));
    const [found] = await perform(client, [{ op: "search", prefix: ["concurrent"], limit: 100 }]);
    expect((found as { key: string }[]).map(({ key }) => key).toSorted()).toEqual(keys);
  });

  test.for([
    ["an empty namespace", put([], "k", {})],
    ["a label with a dot", put(["a.b"], "k", {})],
    ["an empty label", put([""], "k", {})],
  ] as const)("refuses %s", async ([, operation], { client, expect }) => {
    await expect(perform(client, [operation])).rejects.toThrow(/namespace/i);
  });
});
