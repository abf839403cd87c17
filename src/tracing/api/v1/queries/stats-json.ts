import { microsToIso } from "../../../../lib/time.ts";
import type {
  DetailsColumn,
  FeedbackTotals,
  Measure,
  StatsQuery,
  StatsTotals,
} from "../../../shard/shard-stats.ts";
import { formatCost } from "../../../usage/costs.ts";
import { toSeconds } from "../../../usage/money.ts";
import { percentile } from "../../../model/histogram.ts";
import { addKeyStats, type KeyStats, mergeStatsByKey } from "../../feedback-stats.ts";

/** The names that `select` of a statistics request accepts. */
export const STATS_SELECT = [
  "run_count",
  "latency_p50",
  "latency_p99",
  "latency_avg",
  "first_token_p50",
  "first_token_p99",
  "total_tokens",
  "prompt_tokens",
  "completion_tokens",
  "median_tokens",
  "completion_tokens_p50",
  "prompt_tokens_p50",
  "tokens_p99",
  "completion_tokens_p99",
  "prompt_tokens_p99",
  "last_run_start_time",
  "feedback_stats",
  "run_facets",
  "error_rate",
  "streaming_rate",
  "total_cost",
  "prompt_cost",
  "completion_cost",
  "cost_p50",
  "cost_p99",
  "prompt_token_details",
  "completion_token_details",
  "prompt_cost_details",
  "completion_cost_details",
] as const;

export type StatsSelect = (typeof STATS_SELECT)[number];

const PERCENTILES: Partial<Record<StatsSelect, [Measure, number, "seconds" | "count" | "cost"]>> = {
  latency_p50: ["latency", 0.5, "seconds"],
  latency_p99: ["latency", 0.99, "seconds"],
  first_token_p50: ["first_token", 0.5, "seconds"],
  first_token_p99: ["first_token", 0.99, "seconds"],
  median_tokens: ["total_tokens", 0.5, "count"],
  tokens_p99: ["total_tokens", 0.99, "count"],
  prompt_tokens_p50: ["prompt_tokens", 0.5, "count"],
  prompt_tokens_p99: ["prompt_tokens", 0.99, "count"],
  completion_tokens_p50: ["completion_tokens", 0.5, "count"],
  completion_tokens_p99: ["completion_tokens", 0.99, "count"],
  cost_p50: ["total_cost", 0.5, "cost"],
  cost_p99: ["total_cost", 0.99, "cost"],
};

/** Returns what the shards have to count for a selection. */
export function neededFor(
  select: readonly StatsSelect[],
): Pick<StatsQuery, "measures" | "details" | "feedback" | "facets"> {
  const measures = select.flatMap((name) => PERCENTILES[name]?.[0] ?? []);
  return {
    measures: [...new Set(measures)],
    details: select.some((name) => name.endsWith("_details")),
    feedback: select.includes("feedback_stats"),
    facets: select.includes("run_facets"),
  };
}

/** Returns statistics as the tracing API shows them: seconds, decimal costs, rates from 0 to 1. */
export function toStatsJson(
  totals: StatsTotals,
  select: readonly StatsSelect[],
): Record<string, unknown> {
  return Object.fromEntries(select.map((name) => [name, statistic(totals, name)]));
}

function statistic(totals: StatsTotals, name: StatsSelect): unknown {
  const wanted = PERCENTILES[name];
  if (wanted !== undefined) {
    const [measure, fraction, unit] = wanted;
    const value = percentile(totals.histograms[measure] ?? [], fraction);
    if (value === null) return null;
    if (unit === "seconds") return toSeconds(value);
    return unit === "cost" ? formatCost(Math.round(value)) : Math.round(value);
  }
  switch (name) {
    case "run_count":
      return totals.runs;
    case "latency_avg":
      return totals.ended === 0 ? null : toSeconds(totals.latencySum / totals.ended);
    case "total_tokens":
      return totals.totalTokens;
    case "prompt_tokens":
      return totals.promptTokens;
    case "completion_tokens":
      return totals.completionTokens;
    case "total_cost":
      return cost(totals.totalCost);
    case "prompt_cost":
      return cost(totals.promptCost);
    case "completion_cost":
      return cost(totals.completionCost);
    case "last_run_start_time":
      return totals.lastStart === null ? null : microsToIso(totals.lastStart);
    case "error_rate":
      return totals.runs === 0 ? null : totals.errors / totals.runs;
    case "streaming_rate":
      return totals.runs === 0 ? null : totals.streamed / totals.runs;
    case "feedback_stats":
      return Object.fromEntries(
        Object.entries(totals.feedback).map(([key, value]) => [key, feedbackJson(value)]),
      );
    case "run_facets":
      return totals.facets;
    case "prompt_token_details":
    case "completion_token_details":
    case "prompt_cost_details":
    case "completion_cost_details":
      return detailsJson(totals, name);
    default:
      throw new Error(`no statistic ${name}`);
  }
}

function detailsJson(totals: StatsTotals, column: DetailsColumn): unknown {
  const details = totals.details[column];
  if (details === undefined || !column.includes("cost")) return details ?? null;
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [name, formatCost(value)]),
  );
}

function feedbackJson(feedback: FeedbackTotals): Record<string, unknown> {
  const { judged, counted, scored, sum, squares, min, max, errors, values } = feedback;
  const average = scored === 0 ? null : sum / scored;
  const variance = scored < 2 ? null : (squares - (sum * sum) / scored) / (scored - 1);
  return {
    n: counted === 0 ? judged : counted,
    avg: average,
    min,
    max,
    stdev: variance === null ? null : Math.sqrt(Math.max(0, variance)),
    values,
    errors,
  };
}

function cost(picodollars: number | null): string | null {
  return picodollars === null ? null : formatCost(picodollars);
}

type AveragedStats = KeyStats & { avg: number | null };

/** Merges the `feedback_stats` of several runs (JSON texts) into those of all of them; null if there are none. */
export function mergeFeedbackAverages(
  texts: readonly string[],
): Record<string, AveragedStats> | null {
  const merged = mergeStatsByKey<AveragedStats>(texts, (left, right) => ({
    ...addKeyStats(left, right),
    avg: average(left, right),
  }));
  if (merged.size === 0) return null;
  return Object.fromEntries([...merged].map(([key, stats]) => [key, pick(stats)]));
}

/** Drops the members that only version 2 of the API returns. */
function pick({ n, avg, min, max, values, errors }: AveragedStats): AveragedStats {
  return { n, avg, min, max, values, errors };
}

function average(left: AveragedStats, right: AveragedStats): number | null {
  if (left.avg === null || right.avg === null) return left.avg ?? right.avg;
  return (left.avg * left.n + right.avg * right.n) / (left.n + right.n);
}
