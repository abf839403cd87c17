import { ISO_TIME } from "../uuid.ts";
import { KEY, stored, type WalkCases } from "./walk.ts";

/** Returns a namespace for a single case. */
function newNamespace(): string[] {
  return ["walk", crypto.randomUUID()];
}

export const STORE: WalkCases = {
  putItem: {
    check: async ({ client: { store }, expect }) => {
      const namespace = newNamespace();
      await store.putItem(namespace, KEY, { city: "Bern" }, { ttl: 60, index: false });
      await store.putItem(namespace, KEY, { city: "Basel" });
      expect((await store.getItem(namespace, KEY))?.value).toEqual({ city: "Basel" });
    },
    // The item goes to the caller's own namespace; that the owner's is unchanged is checked afterwards.
    about: (client, { store_namespace }) =>
      client.store.putItem(store_namespace, KEY, { taken: 1 }),
  },

  getItem: {
    check: async (walk) => {
      const { store } = walk.client;
      const namespace = newNamespace();
      await store.putItem(namespace, KEY, { city: "Bern" });
      const time = walk.expect.stringMatching(ISO_TIME);
      walk.expect(await store.getItem(namespace, KEY)).toEqual({
        namespace: stored(walk, namespace),
        key: KEY,
        value: { city: "Bern" },
        created_at: time,
        updated_at: time,
        createdAt: time,
        updatedAt: time,
      });
      walk.expect(await store.getItem(namespace, "other")).toBe(null);
    },
    about: (client, { store_namespace }) => client.store.getItem(store_namespace, KEY),
  },

  deleteItem: {
    check: async ({ client: { store }, expect }) => {
      const namespace = newNamespace();
      await store.putItem(namespace, KEY, { city: "Bern" });
      await store.deleteItem(namespace, KEY);
      expect(await store.getItem(namespace, KEY)).toBe(null);
    },
    about: (client, { store_namespace }) => client.store.deleteItem(store_namespace, KEY),
  },

  searchItems: {
    check: async ({ client: { store }, expect }) => {
      const [prefix = "", id = ""] = newNamespace();
      for (const [label, city] of [
        ["a", "Bern"],
        ["b", "Basel"],
        ["b", "Bern"],
      ] as const) {
        await store.putItem([prefix, id, label], city, { city });
      }
      const [bern, basel] = [
        await store.getItem([prefix, id, "b"], "Bern"),
        await store.getItem([prefix, id, "b"], "Basel"),
      ];
      const inBoth = await store.searchItems([prefix, id], { filter: { city: "Bern" } });
      const labels = inBoth.items.map(({ namespace }) => namespace.at(-1) ?? "");
      expect(labels.toSorted((left, right) => left.localeCompare(right))).toEqual(["a", "b"]);
      expect((await store.searchItems([prefix, id, "b"])).items).toEqual(
        expect.arrayContaining([bern, basel]),
      );
      expect((await store.searchItems([prefix, id], { limit: 2, offset: 2 })).items).toHaveLength(
        1,
      );
      expect(await store.searchItems([prefix, "nothing"])).toEqual({ items: [] });
    },
    about: (client, { store_namespace }) => client.store.searchItems(store_namespace),
  },

  listNamespaces: {
    check: async (walk) => {
      const { store } = walk.client;
      const namespace = newNamespace();
      for (const label of ["b", "a"]) await store.putItem([...namespace, label, "x"], KEY, {});
      const under = (labels: string[]) => stored(walk, [...namespace, ...labels]);
      walk.expect(await store.listNamespaces({ prefix: namespace })).toEqual({
        namespaces: [under(["a", "x"]), under(["b", "x"])],
      });
      const depth = under([]).length;
      const options = {
        prefix: namespace,
        suffix: ["x"],
        maxDepth: depth + 1,
        limit: 1,
        offset: 1,
      };
      walk.expect(await store.listNamespaces(options)).toEqual({ namespaces: [under(["b"])] });
    },
    about: (client, { store_namespace }) =>
      client.store.listNamespaces({ prefix: store_namespace }),
  },
};
