import { describe, test, vi } from "vitest";
import { CombiningWriter } from "../../../../../src/agent-server/threads/index/combining-writer.ts";

type Item = { key: string; version: number; removes?: boolean };

function fixture(bounds: { maxItems?: number; maxSize?: number; maxGatherMs?: number } = {}) {
  const limits = { maxItems: 50, maxSize: 1000, maxGatherMs: 0, ...bounds };
  const batches: { items: Item[]; end: PromiseWithResolvers<void> }[] = [];
  const writer = new CombiningWriter<Item>(
    (items) => {
      const end = Promise.withResolvers<void>();
      batches.push({ items, end });
      return end.promise;
    },
    (newer, older) => !newer.removes && !older.removes && newer.version >= older.version,
    limits,
  );
  const write = (item: Item, size = 1): Promise<void> =>
    writer.write({ key: item.key, item, size });
  const versions = (): string[][] =>
    batches.map(({ items }) => items.map(({ key, version }) => `${key}${version}`));
  return { writer, batches, write, versions };
}

/** Waits until everything that is ready has run. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("CombiningWriter", () => {
  test("sends the first write at once and the ones during it together", async ({ expect }) => {
    const { batches, write, versions } = fixture();
    const writes = [
      write({ key: "a", version: 1 }),
      write({ key: "b", version: 1 }),
      write({ key: "c", version: 1 }),
    ];
    expect(versions()).toEqual([["a1"]]);
    batches[0]?.end.resolve();
    await settle();
    expect(versions()).toEqual([["a1"], ["b1", "c1"]]);
    batches[1]?.end.resolve();
    await Promise.all(writes);
  });

  test("lets a batch wait for more writes, as long as the one before took, if that had several", async ({
    expect,
  }) => {
    vi.useFakeTimers();
    try {
      const { batches, write, versions } = fixture({ maxGatherMs: 10 });
      const writes = [1, 2, 3].map((version) => write({ key: `k${version}`, version }));
      batches[0]?.end.resolve();
      await vi.advanceTimersByTimeAsync(0);
      expect(versions()).toEqual([["k11"], ["k22", "k33"]]);
      await vi.advanceTimersByTimeAsync(4);
      writes.push(write({ key: "a", version: 1 }));
      batches[1]?.end.resolve();
      await vi.advanceTimersByTimeAsync(3);
      expect(batches).toHaveLength(2);
      writes.push(write({ key: "b", version: 1 }));
      await vi.advanceTimersByTimeAsync(1);
      expect(versions()[2]).toEqual(["a1", "b1"]);
      await vi.advanceTimersByTimeAsync(500);
      batches[2]?.end.resolve();
      await Promise.all(writes);
      // However long the last batch took, the next one waits no longer than the limit, and a single write once only.
      const late = write({ key: "c", version: 1 });
      await vi.advanceTimersByTimeAsync(9);
      expect(batches).toHaveLength(3);
      await vi.advanceTimersByTimeAsync(1);
      expect(versions()[3]).toEqual(["c1"]);
      batches[3]?.end.resolve();
      await late;
      const alone = write({ key: "d", version: 1 });
      expect(versions()[4]).toEqual(["d1"]);
      batches[4]?.end.resolve();
      await alone;
    } finally {
      vi.useRealTimers();
    }
  });

  test("sends only the newest of the writes that wait for one key", async ({ expect }) => {
    const { batches, write, versions } = fixture();
    const first = write({ key: "a", version: 1 });
    const waiting = [write({ key: "a", version: 2 }), write({ key: "a", version: 3 })];
    batches[0]?.end.resolve();
    await first;
    await settle();
    expect(versions()).toEqual([["a1"], ["a3"]]);
    batches[1]?.end.resolve();
    await Promise.all(waiting);
  });

  test("does other work alone, between the writes before and after it", async ({ expect }) => {
    const { writer, batches, write, versions } = fixture();
    const work = Promise.withResolvers<string>();
    const seen: string[][][] = [];
    const begin = (): Promise<string> => {
      seen.push(versions());
      return work.promise;
    };
    const first = write({ key: "a", version: 1 });
    const second = write({ key: "b", version: 1 });
    const done = writer.alone(begin);
    const failed = writer.alone(() => Promise.reject(new Error("it failed")));
    const later = write({ key: "c", version: 1 });
    batches[0]?.end.resolve();
    await settle();
    expect([seen, versions()]).toEqual([[], [["a1"], ["b1"]]]);
    batches[1]?.end.resolve();
    await Promise.all([first, second]);
    await settle();
    expect([seen, versions()]).toEqual([[[["a1"], ["b1"]]], [["a1"], ["b1"]]]);
    work.resolve("done");
    expect(await done).toBe("done");
    await expect(failed).rejects.toThrow("it failed");
    await settle();
    expect(versions()).toEqual([["a1"], ["b1"], ["c1"]]);
    batches[2]?.end.resolve();
    await later;
  });

  test("keeps a removal apart from later writes, and in order", async ({ expect }) => {
    const { batches, write, versions } = fixture();
    const writes = [
      write({ key: "x", version: 1 }),
      write({ key: "a", version: 9, removes: true }),
      write({ key: "a", version: 1 }),
    ];
    batches[0]?.end.resolve();
    await settle();
    expect(versions()).toEqual([["x1"], ["a9", "a1"]]);
    batches[1]?.end.resolve();
    await Promise.all(writes);
  });

  test("rejects all writes of a failed batch, and continues with the next one", async ({
    expect,
  }) => {
    const { batches, write, versions } = fixture();
    const first = write({ key: "a", version: 1 });
    const second = write({ key: "b", version: 1 });
    batches[0]?.end.reject(new Error("down"));
    await expect(first).rejects.toThrow("down");
    await settle();
    batches[1]?.end.resolve();
    await second;
    expect(versions()).toEqual([["a1"], ["b1"]]);
  });

  test("bounds a batch by items and by size, but sends one item of any size", async ({
    expect,
  }) => {
    const { batches, write, versions } = fixture({ maxItems: 2, maxSize: 10 });
    const writes = [
      write({ key: "a", version: 1 }, 99),
      write({ key: "b", version: 1 }),
      write({ key: "c", version: 1 }),
      write({ key: "d", version: 1 }, 8),
      write({ key: "e", version: 1 }, 8),
    ];
    for (let index = 0; index < 4; index += 1) {
      batches[index]?.end.resolve();
      await settle();
    }
    await Promise.all(writes);
    expect(versions()).toEqual([["a1"], ["b1", "c1"], ["d1"], ["e1"]]);
  });
});
