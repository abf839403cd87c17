import { queryOptions } from "@tanstack/react-query";
import type { Tracing } from "./tracing.ts";

/** The statistics of an interval; a figure that no run in it has is null. */
export type Figures = {
  run_count: number;
  error_rate: number | null;
  latency_p50: number | null;
  latency_p99: number | null;
  first_token_p50: number | null;
  first_token_p99: number | null;
  total_tokens: number | null;
  total_cost: string | null;
};

/** An interval; `at` is its start in milliseconds since the epoch. `figures` is null when no run started in it. */
export type Interval = { at: number; figures: Figures | null };

export type Range = { name: string; seconds: number; interval: number };

const HOUR = 3_600;
const DAY = 86_400;

export const RANGES: readonly [Range, ...Range[]] = [
  { name: "1 h", seconds: HOUR, interval: 60 },
  { name: "6 h", seconds: 6 * HOUR, interval: 300 },
  { name: "24 h", seconds: DAY, interval: 1_200 },
  { name: "7 days", seconds: 7 * DAY, interval: 3 * HOUR },
  { name: "30 days", seconds: 30 * DAY, interval: 12 * HOUR },
];

/** Polling interval. A key may request statistics every ten seconds. */
const FOLLOW_MS = 30_000;

const SELECT: readonly (keyof Figures)[] = [
  "run_count",
  "error_rate",
  "latency_p50",
  "latency_p99",
  "first_token_p50",
  "first_token_p99",
  "total_tokens",
  "total_cost",
];

/**
 * The statistics of a project's root runs over time, up to now, for all intervals of the range, including
 * those without runs.
 */
export function chartsQuery(
  tracing: Tracing,
  { projectId, range, filter }: { projectId: string; range: Range; filter: string },
) {
  return queryOptions({
    queryKey: ["charts", projectId, range.name, filter],
    staleTime: FOLLOW_MS,
    refetchInterval: FOLLOW_MS,
    queryFn: async ({ signal }): Promise<Interval[]> => {
      const step = range.interval * 1000;
      const last = Math.floor(Date.now() / step) * step;
      const first = last - range.seconds * 1000 + step;
      const found = await tracing<Record<string, Figures>>("/runs/stats", {
        method: "POST",
        body: {
          session: [projectId],
          is_root: true,
          start_time: new Date(first).toISOString(),
          select: SELECT,
          group_by: { attribute: "start_time", interval_seconds: range.interval },
          ...(filter === "" ? {} : { filter }),
        },
        signal,
      });
      const byTime = new Map(Object.entries(found).map(([at, each]) => [Date.parse(at), each]));
      const length = Math.round((last - first) / step) + 1;
      return Array.from({ length }, (_, index) => {
        const at = first + index * step;
        return { at, figures: byTime.get(at) ?? null };
      });
    },
  });
}
