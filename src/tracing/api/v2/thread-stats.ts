import { type Micros, microsToIso } from "../../../lib/time.ts";
import { findRuns } from "../../query/find-runs.ts";
import { collectStats } from "../../query/run-stats.ts";
import type { RunSelection } from "../../shard/selection.ts";
import { findThreadTotals } from "../../query/threads.ts";
import type { RunPosition } from "../../model/run-page.ts";
import { ALL_RUNS, type DetailsColumn, type StatsTotals } from "../../shard/shard-stats.ts";
import type { ThreadTotals } from "../../shard/shard-threads.ts";
import { toSeconds, toUsd, toUsdByCategory } from "../../usage/money.ts";
import { mergeFeedbackStats } from "../feedback-stats.ts";
import { percentile } from "../../model/histogram.ts";

const PAGE = 1000;

/** The names that `selects` accepts. */
export const THREAD_STATS_FIELDS = [
  "TURNS",
  "FIRST_START_TIME",
  "LAST_START_TIME",
  "LAST_END_TIME",
  "LATENCY_P50",
  "LATENCY_P99",
  "PROMPT_TOKENS",
  "PROMPT_COST",
  "COMPLETION_TOKENS",
  "COMPLETION_COST",
  "TOTAL_TOKENS",
  "TOTAL_COST",
  "PROMPT_TOKEN_DETAILS",
  "COMPLETION_TOKEN_DETAILS",
  "PROMPT_COST_DETAILS",
  "COMPLETION_COST_DETAILS",
  "FEEDBACK_STATS",
] as const;

type ThreadStatsField = (typeof THREAD_STATS_FIELDS)[number];

const OF_THREAD: ReadonlySet<ThreadStatsField> = new Set([
  "TURNS",
  "FIRST_START_TIME",
  "LAST_START_TIME",
  "LATENCY_P50",
  "LATENCY_P99",
  "FEEDBACK_STATS",
]);

type ThreadScope = { workspaceId: string; projectId: string; selection: RunSelection };

/** The results from the shards, as far as the selected fields need them. */
type Facts = {
  thread: ThreadTotals | undefined;
  totals: StatsTotals | undefined;
  lastEnd: Micros | undefined;
};

/** Returns statistics of the root runs of one thread. Statistics without a value are left out. */
export async function threadStats(
  env: Env,
  scope: ThreadScope,
  fields: readonly ThreadStatsField[],
): Promise<Record<string, unknown>> {
  const isOfThread = fields.some((field) => OF_THREAD.has(field));
  const isTotal = fields.some((field) => !OF_THREAD.has(field) && field !== "LAST_END_TIME");
  const details = fields.some((field) => field.endsWith("_DETAILS"));
  const [thread, totals, lastEnd] = await Promise.all([
    isOfThread ? findThread(env, scope) : undefined,
    isTotal ? findTotals(env, scope, details) : undefined,
    fields.includes("LAST_END_TIME") ? findLastEnd(env, scope) : undefined,
  ]);
  const facts = { thread, totals, lastEnd };
  return Object.fromEntries(fields.map((field) => [nameOf(field), statistic(facts, field)]));
}

function nameOf(field: ThreadStatsField): string {
  const unit = field === "LATENCY_P50" || field === "LATENCY_P99" ? "_seconds" : "";
  return field.toLowerCase() + unit;
}

function statistic({ thread, totals, lastEnd }: Facts, field: ThreadStatsField): unknown {
  switch (field) {
    case "TURNS":
      return thread?.count ?? 0;
    case "FIRST_START_TIME":
      return thread && microsToIso(thread.minStart);
    case "LAST_START_TIME":
      return thread && microsToIso(thread.maxStart);
    case "LAST_END_TIME":
      return lastEnd === undefined ? undefined : microsToIso(lastEnd);
    case "LATENCY_P50":
      return (thread && latencySeconds(thread, 0.5)) ?? undefined;
    case "LATENCY_P99":
      return (thread && latencySeconds(thread, 0.99)) ?? undefined;
    case "FEEDBACK_STATS":
      return mergeFeedbackStats(thread?.feedbackStats ?? []);
    case "PROMPT_TOKENS":
      return totals?.promptTokens ?? 0;
    case "COMPLETION_TOKENS":
      return totals?.completionTokens ?? 0;
    case "TOTAL_TOKENS":
      return totals?.totalTokens ?? 0;
    case "PROMPT_COST":
      return usd(totals?.promptCost);
    case "COMPLETION_COST":
      return usd(totals?.completionCost);
    case "TOTAL_COST":
      return usd(totals?.totalCost);
    case "PROMPT_TOKEN_DETAILS":
      return details(totals, "prompt_token_details");
    case "COMPLETION_TOKEN_DETAILS":
      return details(totals, "completion_token_details");
    case "PROMPT_COST_DETAILS":
      return details(totals, "prompt_cost_details", toUsdByCategory);
    case "COMPLETION_COST_DETAILS":
      return details(totals, "completion_cost_details", toUsdByCategory);
  }
}

async function findThread(env: Env, scope: ThreadScope): Promise<ThreadTotals | undefined> {
  const { workspaceId, projectId, selection } = scope;
  const [thread] = await findThreadTotals(env, { workspaceId, projectIds: [projectId], selection });
  return thread;
}

async function findTotals(
  env: Env,
  { workspaceId, projectId, selection }: ThreadScope,
  details: boolean,
): Promise<StatsTotals | undefined> {
  const groups = await collectStats(env, {
    workspaceId,
    projectIds: [projectId],
    selection,
    groupBy: null,
    query: { measures: [], details, feedback: false, facets: false },
  });
  return groups.get(ALL_RUNS);
}

async function findLastEnd(
  env: Env,
  { workspaceId, projectId, selection }: ThreadScope,
): Promise<Micros | undefined> {
  let last: Micros | undefined;
  let after: RunPosition | null = null;
  do {
    const page = await findRuns(env, {
      workspaceId,
      projectIds: [projectId],
      selection,
      order: "asc",
      after,
      limit: PAGE,
      payloads: [],
    });
    for (const { run } of page.runs) {
      if (run.end_time !== null) last = Math.max(run.end_time, last ?? run.end_time);
    }
    after = page.next;
  } while (after !== null);
  return last;
}

function usd(picodollars: number | null | undefined): number | undefined {
  return picodollars === null || picodollars === undefined ? undefined : toUsd(picodollars);
}

function details(
  totals: StatsTotals | undefined,
  column: DetailsColumn,
  convert: (categories: Record<string, number>) => Record<string, number> = (same) => same,
): { raw: Record<string, number> } | undefined {
  const categories = totals?.details[column];
  return categories === undefined ? undefined : { raw: convert(categories) };
}

/** Returns the summary of a thread. Members without a value are left out. */
export function toThreadSummaryJson(thread: ThreadTotals) {
  return {
    thread_id: thread.threadId,
    trace_id: thread.lastTraceId,
    first_trace_id: thread.firstTraceId,
    last_trace_id: thread.lastTraceId,
    count: thread.count,
    num_errored_turns: thread.errors,
    start_time: microsToIso(thread.maxStart),
    min_start_time: microsToIso(thread.minStart),
    max_start_time: microsToIso(thread.maxStart),
    ...optional("latency_p50", latencySeconds(thread, 0.5)),
    ...optional("latency_p99", latencySeconds(thread, 0.99)),
    total_tokens: thread.totalTokens,
    ...optional("total_cost", thread.totalCost === null ? null : toUsd(thread.totalCost)),
    ...optional("first_inputs", thread.firstInputs),
    ...optional("last_outputs", thread.lastOutputs),
    ...optional("last_error", thread.lastError),
    feedback_stats: mergeFeedbackStats(thread.feedbackStats),
  };
}

/** Returns a percentile of the latency of the turns that have ended; null if none has. */
function latencySeconds({ latency }: ThreadTotals, fraction: number): number | null {
  const micros = percentile(latency, fraction);
  return micros === null ? null : toSeconds(micros);
}

function optional<Name extends string, Value>(
  name: Name,
  value: Value | null,
): { [Key in Name]?: Value } {
  return (value === null ? {} : { [name]: value }) as { [Key in Name]?: Value };
}
