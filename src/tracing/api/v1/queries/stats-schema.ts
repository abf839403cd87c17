import { z } from "@hono/zod-openapi";
import type { StatsSelect } from "./stats-json.ts";

const count = z.int().nullable();
const number = z.number().nullable();
/** Costs are decimals in text form, so that nothing is rounded. */
const cost = z.string().nullable();
const countDetails = z.record(z.string(), z.number()).nullable();
const costDetails = z.record(z.string(), z.string()).nullable();

const feedbackStat = z
  .object({
    n: z.int(),
    avg: number,
    min: number,
    max: number,
    stdev: number,
    values: z.record(z.string(), z.int()),
    errors: z.int(),
  })
  .openapi("FeedbackStat");

const STATISTICS: Record<StatsSelect, z.ZodType> = {
  run_count: z.int(),
  latency_p50: number,
  latency_p99: number,
  latency_avg: number,
  first_token_p50: number,
  first_token_p99: number,
  total_tokens: count,
  prompt_tokens: count,
  completion_tokens: count,
  median_tokens: count,
  completion_tokens_p50: count,
  prompt_tokens_p50: count,
  tokens_p99: count,
  completion_tokens_p99: count,
  prompt_tokens_p99: count,
  last_run_start_time: z.iso.datetime().nullable(),
  feedback_stats: z.record(z.string(), feedbackStat),
  run_facets: z.array(z.object({ key: z.string(), value: z.string(), n: z.int() })),
  error_rate: number,
  streaming_rate: number,
  total_cost: cost,
  prompt_cost: cost,
  completion_cost: cost,
  cost_p50: cost,
  cost_p99: cost,
  prompt_token_details: countDetails,
  completion_token_details: countDetails,
  prompt_cost_details: costDetails,
  completion_cost_details: costDetails,
};

/** The selected statistics of all selected runs. */
export const runStatsSchema = z.object(STATISTICS).partial().openapi("RunStats");

/** The statistics of each group, keyed by the group's name, when `group_by` is given. */
export const groupedRunStatsSchema = z
  .record(z.string(), runStatsSchema)
  .openapi("GroupedRunStats");

/** The statistics of the runs of threads, and the number of these threads. */
export const threadGroupStatsSchema = z
  .object(STATISTICS)
  .partial()
  .extend({ group_count: z.int() })
  .openapi("ThreadGroupStats");

export const threadGroupSchema = z
  .object({
    group_key: z.string(),
    thread_id: z.string(),
    filter: z.string(),
    count: z.int(),
    total_tokens: count,
    total_cost: number,
    min_start_time: z.iso.datetime(),
    max_start_time: z.iso.datetime(),
    latency_p50: number,
    latency_p99: number,
    feedback_stats: z.record(z.string(), z.unknown()).nullable(),
    first_inputs: z.string().nullable(),
    last_outputs: z.string().nullable(),
    last_error: z.string().nullable(),
  })
  .openapi("ThreadGroup");
