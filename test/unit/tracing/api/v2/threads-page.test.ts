import { describe, test } from "vitest";
import {
  type ThreadPosition,
  threadsPage,
} from "../../../../../src/tracing/api/v2/threads-page.ts";

const THREADS = [
  { threadId: "newest", maxStart: 9 },
  { threadId: "a", maxStart: 5 },
  { threadId: "b/%", maxStart: 5 },
  { threadId: "ünïcode 🧵", maxStart: 5 },
  { threadId: "oldest", maxStart: 1 },
];

describe("threadsPage", () => {
  test.for([1, 2, 3, 4])("visits each thread once, %i at a time", (limit, { expect }) => {
    const seen: string[] = [];
    const positions: ThreadPosition[] = [];
    let after: ThreadPosition | null = null;
    do {
      const page: ReturnType<typeof threadsPage<(typeof THREADS)[number]>> = threadsPage(
        THREADS,
        after,
        limit,
      );
      seen.push(...page.items.map(({ threadId }) => threadId));
      after = page.next;
      if (after !== null) positions.push(after);
    } while (after !== null);
    expect(seen).toEqual(THREADS.map(({ threadId }) => threadId));
    expect(positions).toHaveLength(Math.ceil(THREADS.length / limit) - 1);
    // Cursors are made from the ids by btoa.
    expect(positions.filter(({ id }) => !/^[\x20-\x7e]+$/.test(id))).toEqual([]);
  });

  test("ends with the page of the last thread", ({ expect }) => {
    expect(threadsPage(THREADS, null, 5).next).toBeNull();
    expect(threadsPage([], null, 5)).toEqual({ items: [], next: null });
  });

  test("continues after a thread that is deleted, and one that has moved up", ({ expect }) => {
    const { next } = threadsPage(THREADS, null, 3);
    const later = [{ threadId: "b/%", maxStart: 20 }, ...THREADS.toSpliced(2, 1)];
    expect(threadsPage(later, next, 3).items.map(({ threadId }) => threadId)).toEqual([
      "ünïcode 🧵",
      "oldest",
    ]);
  });

  test("accepts any text as a position", ({ expect }) => {
    expect(threadsPage(THREADS, { startTime: 5, id: "%" }, 9).items).toEqual(THREADS.slice(1));
  });
});
