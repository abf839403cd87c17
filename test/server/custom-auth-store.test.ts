import type { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { bearer } from "../support/bearer.ts";
import { answerOf, send } from "../support/http.ts";
import { testWithServer, type TestServer } from "../support/server.ts";

const test = testWithServer({ AGENT_AUTH: "none" }, "custom-auth");

function storeOf(server: TestServer, identity: string, rules: string, more: object = {}) {
  const client: Client = server.client({ headers: bearer({ identity, rules, ...more }) });
  return client.store;
}

describe("a handler that changes the namespace", () => {
  test("keeps users apart who send the same request", async ({ server, expect }) => {
    const [ada, bob, admin] = [
      storeOf(server, "ada", "own-namespace"),
      storeOf(server, "bob", "own-namespace"),
      storeOf(server, "admin", "allow"),
    ];
    await ada.putItem(["notes"], "k", { of: "ada" });
    await bob.putItem(["notes"], "k", { of: "bob" });
    expect(await ada.getItem(["notes"], "k")).toMatchObject({
      namespace: ["ada", "notes"],
      value: { of: "ada" },
    });
    for (const prefix of [["notes"], []]) {
      const { items } = await bob.searchItems(prefix);
      expect(items.map(({ value }) => value)).toEqual([{ of: "bob" }]);
    }
    expect(await ada.listNamespaces()).toEqual({ namespaces: [["ada", "notes"]] });
    expect(await ada.listNamespaces({ prefix: ["*"] })).toEqual({ namespaces: [["ada", "notes"]] });
    expect((await bob.searchItems(["*"])).items).toEqual([]);
    await ada.deleteItem(["notes"], "k");
    expect(await ada.getItem(["notes"], "k")).toBeNull();
    expect((await admin.getItem(["bob", "notes"], "k"))?.value).toEqual({ of: "bob" });
  });

  test("with an invalid result is refused like a client's invalid namespace", async ({
    server,
    expect,
  }) => {
    const headers = bearer({ identity: "a.b", rules: "own-namespace" });
    const body = { namespace: ["notes"], key: "k", value: {} };
    expect(await answerOf(send(server, "PUT", "/store/items", body, headers))).toEqual({
      status: 422,
      body: {
        detail: "Namespace labels cannot be empty or contain periods. Received: a.b.notes",
      },
    });
  });

  test("with an empty result has no effect for anybody", async ({ server, expect }) => {
    const headers = bearer({ identity: "x", rules: "unnamespace" });
    for (const [method, path, body] of [
      ["PUT", "/store/items", { namespace: ["n"], key: "k", value: {} }],
      ["GET", "/store/items?namespace=n&key=k", undefined],
      ["DELETE", "/store/items", { namespace: ["n"], key: "k" }],
      ["POST", "/store/items/search", {}],
      ["POST", "/store/namespaces", {}],
    ] as const) {
      const { status } = await send(server, method, path, body, headers);
      expect([method, path, status]).toEqual([method, path, 500]);
    }
  });
});

describe("a filter on the store", () => {
  test("hides the items whose values do not match", async ({ server, expect }) => {
    const namespace = ["filtered"];
    const [first, second] = [
      storeOf(server, "first", "stamp-value"),
      storeOf(server, "second", "stamp-value"),
    ];
    await first.putItem(namespace, "1", { n: 1, owner: "forged" });
    await second.putItem(namespace, "2", { n: 2 });
    expect((await first.getItem(namespace, "1"))?.value).toEqual({ n: 1, owner: "first" });
    expect(await second.getItem(namespace, "1")).toBeNull();
    const search = { filter: { n: { $gte: 0 } } };
    for (const options of [{}, search]) {
      const { items } = await second.searchItems(namespace, options);
      expect(items.map(({ key }) => key)).toEqual(["2"]);
      expect(await second.searchItems(namespace, { ...options, offset: 1 })).toEqual({ items: [] });
    }
    await second.deleteItem(namespace, "1");
    await expect(second.putItem(namespace, "1", { n: 3 })).rejects.toThrow("Item not found");
    expect((await first.getItem(namespace, "1"))?.value).toEqual({ n: 1, owner: "first" });
    await first.deleteItem(namespace, "1");
    expect(await first.getItem(namespace, "1")).toBeNull();
  });

  test("refuses an item that its own user could not read", async ({ server, expect }) => {
    const headers = bearer({ identity: "unstamped", rules: "owner" });
    const body = { namespace: ["refused"], key: "k", value: { owner: "another" } };
    expect(await answerOf(send(server, "PUT", "/store/items", body, headers))).toEqual({
      status: 403,
      body: { detail: "Not authorized" },
    });
    const all = storeOf(server, "reader", "allow");
    expect(await all.getItem(["refused"], "k")).toBeNull();
  });

  test("applies to namespaces, too, when they are listed", async ({ server, expect }) => {
    const all = storeOf(server, "writer", "allow");
    await all.putItem(["teams", "red"], "k", {});
    await all.putItem(["teams", "blue"], "k", {});
    const filter = { namespace: { $contains: ["teams", "red"] } };
    const red = storeOf(server, "red", "filter", { filter });
    expect(await red.listNamespaces({ prefix: ["teams"] })).toEqual({
      namespaces: [["teams", "red"]],
    });
    expect(await red.listNamespaces({ prefix: ["teams"], maxDepth: 1 })).toEqual({
      namespaces: [],
    });
    const { items } = await red.searchItems([]);
    expect(items.map(({ namespace }) => namespace)).toEqual([["teams", "red"]]);
  });
});
