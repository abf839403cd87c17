import { describe, test } from "vitest";
import type { ThreadTotals } from "../../../../src/tracing/run-shard/shard-threads.ts";
import { threadResponse } from "../../../../src/tracing/v2/thread-response.ts";
import { threadsPage } from "../../../../src/tracing/v2/threads-query.ts";
import { decodeWindowCursor, encodeWindowCursor } from "../../../../src/tracing/v2/window.ts";
import { NOON, RUN_ID, TRACE_ID } from "./support/placed-run.ts";

function thread(threadId: string, columns: Partial<ThreadTotals> = {}): ThreadTotals {
  return {
    threadId,
    count: 1,
    errors: 0,
    minStart: NOON,
    maxStart: NOON,
    totalTokens: 0,
    totalCost: null,
    firstTraceId: TRACE_ID,
    firstInputs: null,
    lastTraceId: TRACE_ID,
    lastOutputs: null,
    lastError: null,
    feedbackStats: [],
    latency: [],
    ...columns,
  };
}

describe("threadResponse", () => {
  test("summarises the turns", ({ expect }) => {
    const totals = thread("t", {
      count: 3,
      errors: 1,
      maxStart: NOON + 2_000_000,
      totalTokens: 12,
      totalCost: 1_500_000_000_000,
      lastTraceId: RUN_ID,
      firstInputs: "hi",
      lastOutputs: "bye",
      lastError: "boom",
      latency: [
        { value: 1_000_000, count: 2 },
        { value: 3_000_000, count: 1 },
      ],
    });
    expect(threadResponse(totals)).toEqual({
      thread_id: "t",
      trace_id: RUN_ID,
      first_trace_id: TRACE_ID,
      last_trace_id: RUN_ID,
      count: 3,
      num_errored_turns: 1,
      start_time: "2026-08-01T12:00:02.000001Z",
      min_start_time: "2026-08-01T12:00:00.000001Z",
      max_start_time: "2026-08-01T12:00:02.000001Z",
      latency_p50: 1,
      latency_p99: 2.96,
      total_tokens: 12,
      total_cost: 1.5,
      first_inputs: "hi",
      last_outputs: "bye",
      last_error: "boom",
      feedback_stats: {},
    });
  });

  test("leaves out what there is no value for", ({ expect }) => {
    expect(Object.keys(threadResponse(thread("t")))).toEqual([
      "thread_id",
      "trace_id",
      "first_trace_id",
      "last_trace_id",
      "count",
      "num_errored_turns",
      "start_time",
      "min_start_time",
      "max_start_time",
      "total_tokens",
      "feedback_stats",
    ]);
  });
});

describe("threadsPage", () => {
  const threads = [
    thread("newest", { maxStart: NOON + 9 }),
    thread("a"),
    thread("b"),
    thread("ünïcode 🧵"),
    thread("oldest", { maxStart: NOON - 9 }),
  ];

  test("visits every thread once, also those of one time, by cursors that are sent as text", ({
    expect,
  }) => {
    const window = { from: 0, to: NOON + 10 };
    const seen: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const after: ReturnType<typeof decodeWindowCursor> =
        cursor === null ? null : decodeWindowCursor(cursor);
      const { items, next } = threadsPage(threads, after?.position ?? null, 1);
      seen.push(...items.map(({ threadId }) => threadId));
      cursor = next === null ? null : encodeWindowCursor({ position: next, window });
      pages += 1;
    } while (cursor !== null);
    expect(seen).toEqual(["newest", "a", "b", "ünïcode 🧵", "oldest"]);
    expect(pages).toBe(5);
  });

  test("ends with the page that has the last thread", ({ expect }) => {
    expect(threadsPage(threads, null, 5).next).toBeNull();
    expect(threadsPage([], null, 5)).toEqual({ items: [], next: null });
    const { next } = threadsPage(threads, null, 4);
    expect(threadsPage(threads.slice(0, 4), next, 4)).toEqual({ items: [], next: null });
  });
});
