import { describe } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { SDKS } from "../support/javascript-clients.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testInWorkspace();

function invalid(loc: string[], msg: string, type: string) {
  return { status: 422, body: { detail: [{ loc: ["body", ...loc], msg, type }] } };
}

const BIG_VALUE = 'The "value" of an item of the store has 1900011 bytes as JSON; at most 1900000';

describe("the store of a deployment", () => {
  for (const { name, Client } of SDKS) {
    test(`is written, read and searched by ${name}`, async ({ server, expect }) => {
      const { apiKey } = await makeWorkspace(server, name);
      const { store } = new Client({ apiUrl: server.url, apiKey });
      const namespace = ["people", "known"];
      await store.putItem(namespace, "ada", { name: "Ada", born: 1815 });
      await store.putItem(namespace, "alan", { name: "Alan", born: 1912 });
      const ada = await store.getItem(namespace, "ada");
      expect(ada).toMatchObject({ namespace, key: "ada", value: { name: "Ada", born: 1815 } });
      const { items } = await store.searchItems(["people"], { filter: { born: { $lt: 1900 } } });
      expect(items).toEqual([ada]);
      expect(await store.listNamespaces({ maxDepth: 1 })).toEqual({ namespaces: [["people"]] });
      await store.deleteItem(namespace, "ada");
      expect(await store.getItem(namespace, "ada")).toBeNull();
      await store.deleteItem(namespace, "ada");
    });
  }

  test("is shared with its graphs", async ({ client, expect }) => {
    const namespace = ["shared"];
    const run = async (operation: object) => {
      const input = { operations: [{ namespace, key: "k", ...operation }] };
      return (await client.runs.wait(null, "store", { input })) as { results: unknown[] };
    };
    await run({ op: "put", value: { by: "graph" } });
    expect((await client.store.getItem(namespace, "k"))?.value).toEqual({ by: "graph" });
    await client.store.putItem(namespace, "k", { by: "client" });
    expect((await run({ op: "get" })).results).toEqual([{ by: "client" }]);
    await client.store.deleteItem(namespace, "k");
    expect((await run({ op: "get" })).results).toEqual([null]);
  });

  test("replaces a whole value, and keeps its creation time", async ({ client, expect }) => {
    await client.store.putItem(["replaced"], "k", { a: 1, b: 1 });
    const first = await client.store.getItem(["replaced"], "k");
    await client.store.putItem(["replaced"], "k", { a: 2 });
    const second = await client.store.getItem(["replaced"], "k");
    expect(second?.value).toEqual({ a: 2 });
    expect(second?.createdAt).toBe(first?.createdAt);
    expect(Date.parse(String(second?.updatedAt))).toBeGreaterThanOrEqual(
      Date.parse(String(first?.updatedAt)),
    );
  });

  test("is separate for each workspace", async ({ server, client, expect }) => {
    const { apiKey } = await makeWorkspace(server, "the neighbours'");
    const { store } = server.client({ apiKey });
    await client.store.putItem(["own"], "k", { of: "the first" });
    expect(await store.getItem(["own"], "k")).toBeNull();
    expect(await store.searchItems([])).toEqual({ items: [] });
    expect(await store.listNamespaces()).toEqual({ namespaces: [] });
    await store.putItem(["own"], "k", { of: "the second" });
    await store.deleteItem(["own"], "k");
    expect((await client.store.getItem(["own"], "k"))?.value).toEqual({ of: "the first" });
  });
});

describe("a search of items", () => {
  test("pages through what matches, newest update first", async ({ client, expect }) => {
    for (const n of [1, 2, 3, 4]) await client.store.putItem(["paged", `${n % 2}`], `${n}`, { n });
    const search = async (options?: object) => {
      const { items } = await client.store.searchItems(["paged"], options);
      return items.map(({ key }) => key);
    };
    const all = await search();
    expect(all.toSorted()).toEqual(["1", "2", "3", "4"]);
    expect(await search({ limit: 2 })).toEqual(all.slice(0, 2));
    expect(await search({ limit: 2, offset: 1 })).toEqual(all.slice(1, 3));
    const odd = all.filter((key) => Number(key) % 2 === 1);
    expect(await search({ filter: { n: { $ne: 2, $lte: 3 } }, offset: 1 })).toEqual(odd.slice(1));
    expect(await search({ limit: 0 })).toEqual([]);
  });

  test.for([
    ["$eq", 2, ["2"]],
    ["$ne", 2, ["1", "3"]],
    ["$gt", 2, ["3"]],
    ["$gte", 2, ["2", "3"]],
    ["$lt", 2, ["1"]],
    ["$lte", 2, ["1", "2"]],
  ] as const)("compares values by %s", async ([operator, operand, keys], { client, expect }) => {
    const namespace = ["compared", operator];
    for (const n of [1, 2, 3]) await client.store.putItem(namespace, `${n}`, { n });
    const filter = { n: { [operator]: operand } };
    const { items } = await client.store.searchItems(namespace, { filter });
    expect(items.map(({ key }) => key).toSorted()).toEqual(keys);
  });

  test("gets the same items with a query as without one, and names it as ignored", async ({
    server,
    client,
    expect,
  }) => {
    await client.store.putItem(["queried"], "k", { text: "a fox" });
    const body = { namespace_prefix: ["queried"] };
    const answer = await send(server, "POST", "/store/items/search", { ...body, query: "animals" });
    const without = await send(server, "POST", "/store/items/search", body);
    expect([answer.status, answer.body]).toEqual([200, without.body]);
    expect(answer.headers.get("x-ignored-fields")).toBe("query");
    expect(without.headers.has("x-ignored-fields")).toBe(false);
  });

  test("returns more items than the store reads in one turn", async ({ client, expect }) => {
    const text = "x".repeat(1_800_000);
    const keys = Array.from({ length: 12 }, (_, index) => `${index}`);
    for (const key of keys) await client.store.putItem(["large"], key, { text, key });
    const { items } = await client.store.searchItems(["large"], { limit: 100 });
    expect(items.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
    expect(items.every(({ value }) => value["text"] === text)).toBe(true);
  });
});

describe("a list of namespaces", () => {
  test("matches prefixes and suffixes, with a star for any one label", async ({
    client,
    expect,
  }) => {
    for (const namespace of [
      ["listed", "a", "notes"],
      ["listed", "b", "notes"],
      ["listed", "b", "files"],
      ["other", "a", "notes"],
    ]) {
      await client.store.putItem(namespace, "k", {});
    }
    const list = async (options: object) => {
      const { namespaces } = await client.store.listNamespaces(options);
      return namespaces.map((labels) => labels.join("/"));
    };
    expect(await list({ prefix: ["listed", "*", "notes"] })).toEqual([
      "listed/a/notes",
      "listed/b/notes",
    ]);
    expect(await list({ prefix: ["listed"], suffix: ["b", "*"] })).toEqual([
      "listed/b/files",
      "listed/b/notes",
    ]);
    expect(await list({ prefix: ["listed"], maxDepth: 2 })).toEqual(["listed/a", "listed/b"]);
    expect(await list({ prefix: ["listed"], limit: 1, offset: 1 })).toEqual(["listed/b/files"]);
  });
});

describe("a request to the store", () => {
  test("accepts a namespace as a text with dots and as a list", async ({
    server,
    client,
    expect,
  }) => {
    await client.store.putItem(["a", "b"], "k", { v: 1 });
    for (const query of ["namespace=a.b", "namespace=a&namespace=b"]) {
      const { body } = await send(server, "GET", `/store/items?${query}&key=k`);
      expect(body).toEqual({
        namespace: ["a", "b"],
        key: "k",
        value: { v: 1 },
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
      });
    }
    expect(await answerOf(send(server, "GET", "/store/items?key=k"))).toEqual({
      status: 200,
      body: null,
    });
  });

  test("keeps any text in a key and a label", async ({ client, expect }) => {
    const namespace = ['"quoted", [and] \u0000', "%", "*"];
    const key = "key with 'quotes', émoji 🦊 and a\nline";
    await client.store.putItem(namespace, key, { v: 1 });
    expect((await client.store.getItem(namespace, key))?.namespace).toEqual(namespace);
    const { items } = await client.store.searchItems(namespace);
    expect(items.map((item) => item.key)).toEqual([key]);
  });

  test("names fields that have no effect without an index", async ({ server, expect }) => {
    const body = { namespace: ["unindexed"], key: "k", value: {}, index: ["text"] };
    const { status, headers } = await send(server, "PUT", "/store/items", body);
    expect([status, headers.get("x-ignored-fields")]).toEqual([204, "index"]);
  });

  const dotted = "Namespace labels cannot be empty or contain periods. Received: ";
  const item = { namespace: ["bad"], key: "k", value: {} };
  test.for([
    [
      "an empty namespace",
      "PUT",
      "/store/items",
      { ...item, namespace: [] },
      { status: 400, body: { detail: "Namespace is required" } },
    ],
    [
      "a label with a dot",
      "PUT",
      "/store/items",
      { ...item, namespace: ["a.b", "c"] },
      { status: 422, body: { detail: `${dotted}a.b.c` } },
    ],
    [
      "an empty label",
      "DELETE",
      "/store/items",
      { namespace: [""], key: "k" },
      { status: 422, body: { detail: dotted } },
    ],
    [
      "a prefix with an empty label",
      "POST",
      "/store/items/search",
      { namespace_prefix: ["a", ""] },
      { status: 422, body: { detail: `${dotted}a.` } },
    ],
    [
      "a suffix with a dot",
      "POST",
      "/store/namespaces",
      { suffix: ["a.b"] },
      { status: 422, body: { detail: `${dotted}a.b` } },
    ],
    [
      "a value that is a list",
      "PUT",
      "/store/items",
      { ...item, value: [] },
      invalid(["value"], "Input should be an object", "dict_type"),
    ],
    [
      "half a character in a key",
      "PUT",
      "/store/items",
      { ...item, key: "\ud83e" },
      invalid(
        ["key"],
        "Input should be well-formed Unicode without the character NUL",
        "string_unicode",
      ),
    ],
    [
      "a value that is too large",
      "PUT",
      "/store/items",
      { ...item, value: { text: "x".repeat(1_900_000) } },
      invalid(["value"], `${BIG_VALUE} are allowed`, "too_long"),
    ],
    [
      "an invalid time to live",
      "PUT",
      "/store/items",
      { ...item, ttl: "soon" },
      invalid(["ttl"], "Input should be a valid number", "float_type"),
    ],
    [
      "an unknown operator",
      "POST",
      "/store/items/search",
      { filter: { a: { $in: [1] } } },
      invalid(
        ["filter"],
        'Unknown filter operator "$in": there are $eq, $ne, $gt, $gte, $lt and $lte',
        "value_error",
      ),
    ],
    [
      "a negative offset",
      "POST",
      "/store/namespaces",
      { offset: -1 },
      invalid(["offset"], "Input should be greater than or equal to 0", "greater_than_equal"),
    ],
  ] as const)("is refused with %s", async ([, method, path, body, refusal], { server, expect }) => {
    expect(await answerOf(send(server, method, path, body))).toEqual(refusal);
  });
});
