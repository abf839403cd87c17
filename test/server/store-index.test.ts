import { describe } from "vitest";
import { bearer } from "../support/bearer.ts";
import { answerOf, send } from "../support/http.ts";
import { SDKS } from "../support/javascript-clients.ts";
import { testWithServer, type TestServer } from "../support/server.ts";

const test = testWithServer({ AGENT_AUTH: "none" }, "indexed");

const ALLOWED = bearer({ identity: "admin", rules: "allow" });

function searched(server: TestServer, body: object) {
  return answerOf(send(server, "POST", "/store/items/search", body, ALLOWED));
}

describe("a search with a query", () => {
  for (const { name, Client } of SDKS) {
    test(`returns the nearest items and their scores to ${name}`, async ({ server, expect }) => {
      const { store } = new Client({ apiUrl: server.url, apiKey: null, defaultHeaders: ALLOWED });
      const namespace = ["near", name.replaceAll(".", "-")];
      const put = (key: string, text: string, options: object = {}) =>
        store.putItem(namespace, key, { text, note: "gold" }, { ttl: null, ...options });
      await put("stream", "the river runs to the sea");
      await put("food", "an apple and a plum by the water");
      await put("hidden", "a river", { index: false });
      await put("noted", "a river", { index: ["note"] });
      const { items } = await store.searchItems(namespace, { query: "water" });
      expect(items.map(({ key }) => key)).toEqual(["stream", "food", "noted"]);
      const scores = items.map(({ score }) => Number(score));
      expect(scores[0]).toBeGreaterThan(0.99);
      expect(scores).toEqual(scores.toSorted((left, right) => right - left));
      const filter = { text: { $ne: "the river runs to the sea" } };
      const other = await store.searchItems(namespace, { query: "water", filter, limit: 1 });
      expect(other.items.map(({ key }) => key)).toEqual(["food"]);
    });
  }

  test("works in a graph, too", async ({ server, expect }) => {
    const client = server.client({ headers: ALLOWED });
    const put = (key: string, text: string, index?: false | string[]) => ({
      op: "put",
      namespace: ["of a graph"],
      key,
      value: { text, note: "a sea" },
      ...(index === undefined ? {} : { index }),
    });
    const operations = [
      put("coin", "gold"),
      put("beach", "the sea"),
      put("noted", "gold", ["note"]),
      put("kept out", "the sea", false),
      { op: "search", prefix: ["of a graph"], query: "a river", limit: 2 },
    ];
    const values = await client.runs.wait(null, "store", { input: { operations } });
    const found = (values as { results: unknown[] }).results.at(-1) as object[];
    expect(found).toMatchObject([{ key: "beach" }, { key: "noted" }]);
    // The API finds the items that the graph has put.
    const { body } = await searched(server, { namespace_prefix: ["of a graph"], query: "gold" });
    expect(body).toMatchObject({ items: [{ key: "coin" }, {}, {}] });
  });

  test("finds nothing of another user", async ({ server, expect }) => {
    const [ada, bob] = ["ada", "bob"].map(
      (identity) => server.client({ headers: bearer({ identity, rules: "own-namespace" }) }).store,
    );
    await ada?.putItem(["notes"], "k", { text: "gold", of: "ada" }, { ttl: null });
    await bob?.putItem(["notes"], "k", { text: "iron", of: "bob" }, { ttl: null });
    const found = await bob?.searchItems([], { query: "gold" });
    expect(found?.items.map(({ value }) => value)).toEqual([{ text: "iron", of: "bob" }]);
    const filtered = bearer({ identity: "x", rules: "filter", filter: { of: "ada" } });
    const seen = await server
      .client({ headers: filtered })
      .store.searchItems([], { query: "iron" });
    expect(seen.items.map(({ value }) => value)).toEqual([{ text: "gold", of: "ada" }]);
  });

  test("reports too large a page, and a failure of the model", async ({ server, expect }) => {
    const { status, body } = await searched(server, { query: "gold", limit: 900, offset: 101 });
    expect([status, body]).toMatchObject([422, { detail: [{ loc: ["body", "limit"] }] }]);
    expect(await searched(server, { query: "unspeakable" })).toEqual({
      status: 400,
      body: { detail: "The project's index failed: The model is lost for words" },
    });
    const item = { namespace: ["a"], key: "k", value: { text: "unspeakable" } };
    const put = await answerOf(send(server, "PUT", "/store/items", item, ALLOWED));
    expect(put.status).toBe(400);
    const get = await answerOf(
      send(server, "GET", "/store/items?namespace=a&key=k", undefined, ALLOWED),
    );
    expect(get.body).toBeNull();
  });

  test("ignores no field that has an effect", async ({ server, expect }) => {
    const item = { namespace: ["known"], key: "k", value: {}, index: ["a"], ttl: 1 };
    const put = await send(server, "PUT", "/store/items", item, ALLOWED);
    expect([put.status, put.headers.has("x-ignored-fields")]).toEqual([204, false]);
    const search = { query: "a", refresh_ttl: false };
    const found = await send(server, "POST", "/store/items/search", search, ALLOWED);
    expect([found.status, found.headers.has("x-ignored-fields")]).toEqual([200, false]);
  });
});

describe("an item", () => {
  test("expires as the project or its put specifies", async ({ server, expect }) => {
    const { store } = server.client({ headers: ALLOWED });
    const namespace = ["living"];
    await store.putItem(namespace, "three seconds", { text: "gold" });
    await store.putItem(namespace, "an hour", { text: "gold" }, { ttl: 60 });
    await store.putItem(namespace, "for ever", { text: "gold" }, { ttl: null });
    const keys = async (query?: string) => {
      const { items } = await store.searchItems(namespace, query === undefined ? {} : { query });
      return items.map(({ key }) => key).toSorted();
    };
    expect(await keys()).toEqual(["an hour", "for ever", "three seconds"]);
    await expect.poll(() => store.getItem(namespace, "three seconds")).toBeNull();
    expect(await keys()).toEqual(["an hour", "for ever"]);
    expect(await keys("gold")).toEqual(["an hour", "for ever"]);
  });

  test("lives on when it is read with a refresh", async ({ server, expect }) => {
    const { store } = server.client({ headers: ALLOWED });
    await store.putItem(["read"], "kept", {}, { ttl: 0.05 });
    await store.putItem(["read"], "left", {}, { ttl: 0.05 });
    await expect
      .poll(async () => {
        await store.getItem(["read"], "kept", { refreshTtl: true });
        return store.getItem(["read"], "left");
      })
      .toBeNull();
    expect(await store.getItem(["read"], "kept")).not.toBeNull();
  });

  for (const [field, value] of [
    ["ttl", 0],
    ["ttl", -1],
    ["ttl", "soon"],
    ["ttl", 1e12],
    ["index", true],
    ["index", [1]],
  ] as const) {
    test(`is refused if its ${field} is ${JSON.stringify(value)}`, async ({ server, expect }) => {
      const item = { namespace: ["a"], key: "k", value: {}, [field]: value };
      const { status, body } = await answerOf(send(server, "PUT", "/store/items", item, ALLOWED));
      expect([status, body]).toMatchObject([422, {}]);
      expect(JSON.stringify(body)).toContain(`"${field}"`);
    });
  }
});
