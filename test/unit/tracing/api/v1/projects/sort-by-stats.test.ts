import { describe, test } from "vitest";
import {
  sortByStats,
  type StatsOrder,
} from "../../../../../../src/tracing/api/v1/projects/sort-by-stats.ts";

const items = ["a", "b", "c", "d", "e"].map((id) => ({ id }));

function order(given: Partial<StatsOrder>): StatsOrder {
  return { by: "latency_p50", feedbackKey: undefined, descending: true, ...given };
}

function sorted(stats: Record<string, Record<string, unknown>>, given: Partial<StatsOrder>) {
  const map = new Map(Object.entries(stats));
  return sortByStats(items, map, order(given))
    .map(({ id }) => id)
    .join("");
}

describe("sortByStats", () => {
  test("puts projects without the statistic last, in either order", ({ expect }) => {
    const stats = {
      a: { latency_p50: 2 },
      b: { latency_p50: null },
      c: { latency_p50: 10 },
      d: { latency_p50: 0 },
    };
    expect(sorted(stats, {})).toBe("cadbe");
    expect(sorted(stats, { descending: false })).toBe("dacbe");
  });

  test("keeps the order of equal ones", ({ expect }) => {
    const stats = { b: { run_count: 1 }, c: { run_count: 1 }, d: { run_count: 2 } };
    expect(sorted(stats, { by: "runs_count" })).toBe("dbcae");
    expect(sorted(stats, { by: "runs_count", descending: false })).toBe("bcdae");
  });

  test("compares times", ({ expect }) => {
    const stats = {
      a: { last_run_start_time: "2026-08-01T12:00:00.000001" },
      b: { last_run_start_time: "2026-08-01T12:00:00.000002" },
    };
    expect(sorted(stats, { by: "last_run_start_time" })).toBe("bacde");
  });

  test("uses the average of one feedback key", ({ expect }) => {
    const stats = {
      a: { feedback_stats: { good: { avg: 0.1 }, other: { avg: 9 } } },
      b: { feedback_stats: { good: { avg: 0.9 } } },
      c: { feedback_stats: { good: { avg: null } } },
      d: { feedback_stats: { other: { avg: 1 } } },
      e: { feedback_stats: null },
    };
    expect(sorted(stats, { by: "feedback", feedbackKey: "good" })).toBe("bacde");
    expect(sorted(stats, { by: "feedback", feedbackKey: "constructor" })).toBe("abcde");
  });
});
