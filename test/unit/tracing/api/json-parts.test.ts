import { describe, test } from "vitest";
import {
  itemsJson,
  type ItemSource,
  type JsonPart,
  nextLimit,
} from "../../../../src/tracing/api/json-parts.ts";

/** Returns the items 1 to `total`, without the even ones if `odd` is set. */
function numbers(
  total: number,
  { chunk, limit, odd = false }: { chunk: number; limit: number | null; odd?: boolean },
) {
  const asked: [after: number, limit: number][] = [];
  const read: ItemSource<number>["read"] = (after, max) => {
    asked.push([after, max]);
    const last = Math.min(after + max, total);
    const all = Array.from({ length: last - after }, (_, index) => after + index + 1);
    return Promise.resolve({
      items: all.filter((item) => !odd || item % 2 === 1).map((item) => [`{"n":${item}`, "}"]),
      taken: all.length,
      next: last < total ? last : null,
    });
  };
  const end = (next: number | null) => (next === null ? {} : { next_cursor: String(next) });
  return { asked, source: { read, chunk, limit, end } };
}

const NOTHING = { items: [], taken: 0, next: null };

async function answer(source: ItemSource<number>): Promise<unknown> {
  const first = (await source.read(0, nextLimit(source, 0))) ?? NOTHING;
  const parts: JsonPart[] = [];
  for await (const part of itemsJson(first, source)) parts.push(part);
  return JSON.parse(parts.map(String).join(""));
}

describe("itemsJson", () => {
  test("reads a page in chunks, and reports where the next one begins", async ({ expect }) => {
    const { asked, source } = numbers(20, { chunk: 4, limit: 10 });
    expect(await answer(source)).toEqual({
      items: Array.from({ length: 10 }, (_, index) => ({ n: index + 1 })),
      next_cursor: "10",
    });
    expect(asked).toEqual([
      [0, 4],
      [4, 4],
      [8, 2],
    ]);
  });

  test("ends when there are no more items", async ({ expect }) => {
    const { asked, source } = numbers(5, { chunk: 4, limit: 10 });
    expect(await answer(source)).toEqual({ items: [1, 2, 3, 4, 5].map((n) => ({ n })) });
    expect(asked).toHaveLength(2);
    expect(await answer(numbers(0, { chunk: 4, limit: 10 }).source)).toEqual({ items: [] });
  });

  test("returns everything without a limit", async ({ expect }) => {
    const { source } = numbers(9, { chunk: 2, limit: null });
    expect(await answer(source)).toEqual({
      items: [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => ({ n })),
    });
  });

  test("counts skipped items", async ({ expect }) => {
    const { asked, source } = numbers(9, { chunk: 2, limit: 4, odd: true });
    expect(await answer(source)).toEqual({ items: [{ n: 1 }, { n: 3 }], next_cursor: "4" });
    expect(asked).toHaveLength(2);
  });

  test("ends with a cursor at the maximum of reads", async ({ expect }) => {
    const { source } = numbers(9, { chunk: 2, limit: 8 });
    let reads = 0;
    const read: typeof source.read = async (after, limit) => {
      reads += 1;
      return reads > 2 ? null : source.read(after, limit);
    };
    expect(await answer({ ...source, read })).toEqual({
      items: [1, 2, 3, 4].map((n) => ({ n })),
      next_cursor: "4",
    });
  });

  test("aborts when a later chunk cannot be read", async ({ expect }) => {
    const { source } = numbers(9, { chunk: 2, limit: null });
    const first = (await source.read(0, 2)) ?? NOTHING;
    const failing = { ...source, read: () => Promise.reject(new Error("no shard")) };
    const parts: JsonPart[] = [];
    await expect(async () => {
      for await (const part of itemsJson(first, failing)) parts.push(part);
    }).rejects.toThrow("no shard");
    expect(parts.map(String).join("")).toBe('{"items":[{"n":1},{"n":2}');
  });
});
