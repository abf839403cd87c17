import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";
import {
  type ReadOperation,
  type ReadTurn,
  type StoreObject,
  storeOf,
} from "../../src/agent-server/store/store-object.ts";
import type { MetadataFilter } from "../../src/lib/metadata-filter.ts";

const OWN: MetadataFilter = { op: "equals", key: "own", value: true };

function newStore() {
  const stub = storeOf(env, { workspaceId: crypto.randomUUID(), deploymentId: "default" });
  return <T>(work: (object: StoreObject, storage: DurableObjectStorage) => T | Promise<T>) =>
    runInDurableObject(stub, (object, { storage }) => work(object, storage));
}

describe("a store with a caller who sees only some of its items", () => {
  test("is read in bounded turns, even if few match", async ({ expect }) => {
    const within = newStore();
    const turns: ReadTurn[] = [];
    const found = await within(async (object, storage) => {
      await object.execute([]);
      storage.transactionSync(() => {
        for (let index = 0; index < 12_000; index += 1) {
          storage.sql.exec(
            "INSERT INTO items (namespace, key, value, created_at, updated_at) VALUES ('[\"n\"]', ?, ?, 0, ?)",
            `key ${index}`,
            JSON.stringify({ own: index % 4000 === 0 }),
            index,
          );
        }
      });
      const items: unknown[] = [];
      const all: ReadOperation = { op: "search", namespace_prefix: [], limit: 10, offset: 1 };
      for (let next: ReadOperation | null = all; next !== null;) {
        const turn: ReadTurn = await object.read(next, OWN);
        turns.push(turn);
        items.push(...((turn.begun?.found ?? turn.answers[0]) as unknown[]));
        next = turn.begun?.rest ?? null;
      }
      return items as { key: string }[];
    });
    expect(found.map(({ key }) => key)).toEqual(["key 4000", "key 0"]);
    expect(turns.length).toBeGreaterThan(2);
  });

  test("keeps the other items, whatever is put or deleted", async ({ expect }) => {
    const within = newStore();
    const place = { namespace: ["n"], key: "k" };
    const put = { op: "put" as const, ...place };
    const get = { op: "get" as const, ...place };
    const answers = await within(async (object) => [
      await object.put({ ...put, value: { own: false } }, null),
      await object.put({ ...put, value: { own: true } }, OWN),
      await object.put({ ...put, value: null }, OWN),
      (await object.read(get, OWN)).answers,
      (await object.execute([get])).answers,
      await object.put({ ...put, value: { own: true } }, null),
      await object.put({ ...put, value: null }, OWN),
      (await object.execute([get])).answers,
    ]);
    expect(answers).toEqual([
      true,
      false,
      false,
      [null],
      [expect.objectContaining({ value: { own: false } })],
      true,
      true,
      [null],
    ]);
  });
});
