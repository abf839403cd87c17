import { memberOf } from "../../../../lib/json.ts";

/** The values of `sort_by` in a list of projects. */
export const SORT_COLUMNS = [
  "name",
  "start_time",
  "last_run_start_time",
  "latency_p50",
  "latency_p99",
  "error_rate",
  "feedback",
  "runs_count",
] as const;

export type StatsOrder = {
  by: Exclude<(typeof SORT_COLUMNS)[number], "name" | "start_time">;
  /** The feedback key whose average is sorted by, when `by` is "feedback". */
  feedbackKey: string | undefined;
  descending: boolean;
};

/** The statistic that each order needs. */
export const SORT_STAT = {
  last_run_start_time: "last_run_start_time",
  latency_p50: "latency_p50",
  latency_p99: "latency_p99",
  error_rate: "error_rate",
  feedback: "feedback_stats",
  runs_count: "run_count",
} as const satisfies Record<StatsOrder["by"], string>;

/** Sorts items by a statistic. Items without it come last in both directions; equal items keep their order. */
export function sortByStats<T extends { id: string }>(
  items: readonly T[],
  stats: ReadonlyMap<string, Record<string, unknown>>,
  order: StatsOrder,
): T[] {
  const keyed = items.map((item) => ({ item, value: valueOf(stats.get(item.id), order) }));
  const sign = order.descending ? -1 : 1;
  return keyed
    .toSorted((left, right) => {
      if (left.value === null || right.value === null) {
        return Number(left.value === null) - Number(right.value === null);
      }
      if (left.value === right.value) return 0;
      return left.value < right.value ? -sign : sign;
    })
    .map(({ item }) => item);
}

function valueOf(
  stats: Record<string, unknown> | undefined,
  { by, feedbackKey }: StatsOrder,
): number | string | null {
  const stat = stats?.[SORT_STAT[by]];
  if (by !== "feedback") return toComparable(stat);
  return toComparable(memberOf(memberOf(stat, feedbackKey ?? ""), "avg"));
}

function toComparable(value: unknown): number | string | null {
  return typeof value === "number" || typeof value === "string" ? value : null;
}
