import { z } from "@hono/zod-openapi";

const time = z.iso.datetime().optional();
const count = z.int().optional();
const number = z.number().optional();
const text = z.string().optional();
const object = z.record(z.string(), z.unknown()).optional();
const byCategory = z.record(z.string(), z.number());
const details = z.object({ raw: byCategory }).optional();

const feedbackStat = z
  .object({
    n: z.int(),
    avg: z.number().nullable(),
    min: z.number().nullable(),
    max: z.number().nullable(),
    stdev: z.number().nullable(),
    values: z.record(z.string(), z.int()),
    errors: z.int(),
    comments: z.array(z.string()),
    sources: z.array(z.unknown()),
    contains_thread_feedback: z.boolean(),
  })
  .openapi("RunFeedbackStat");

const feedbackStats = z.record(z.string(), feedbackStat).optional();

const amounts = {
  total_tokens: count,
  prompt_tokens: count,
  completion_tokens: count,
  total_cost: number,
  prompt_cost: number,
  completion_cost: number,
  prompt_token_details: details,
  completion_token_details: details,
  prompt_cost_details: details,
  completion_cost_details: details,
};

const contents = {
  name: text,
  start_time: time,
  end_time: z.iso.datetime().nullish(),
  first_token_time: time,
  error: text,
  error_preview: text,
  inputs_preview: text,
  outputs_preview: text,
  thread_id: text,
  trace_id: text,
};

export const runSchemaV2 = z
  .object({
    id: text,
    ...contents,
    ...amounts,
    run_type: text,
    status: z.enum(["SUCCESS", "ERROR", "PENDING"]).optional(),
    latency_seconds: number,
    inputs: object,
    outputs: object,
    extra: object,
    metadata: object,
    manifest: object,
    events: z.array(z.record(z.string(), z.unknown())).optional(),
    parent_run_id: text,
    parent_run_ids: z.array(z.string()).optional(),
    project_id: text,
    dotted_order: text,
    is_root: z.boolean().optional(),
    is_in_dataset: z.boolean().optional(),
    reference_example_id: text,
    price_model_id: text,
    tags: z.array(z.string()).optional(),
    app_path: text,
    attachments: z.record(z.string(), z.string()).optional(),
    share_url: text,
    feedback_stats: feedbackStats,
  })
  .openapi("RunResponse");

const threadTraceSchema = z
  .object({
    ...contents,
    ...amounts,
    op: count,
    latency: number,
    inputs: z.unknown().optional(),
    outputs: z.unknown().optional(),
  })
  .openapi("ThreadTrace");

const traceSchema = z
  .object({
    root_run: runSchemaV2,
    trace_aggregates: z
      .object({ total_tokens: count, total_cost: number, first_token_time: time })
      .optional(),
  })
  .openapi("Trace");

const threadSchema = z
  .object({
    thread_id: z.string(),
    trace_id: z.string(),
    first_trace_id: z.string(),
    last_trace_id: z.string(),
    count: z.int(),
    num_errored_turns: z.int(),
    start_time: z.iso.datetime(),
    min_start_time: z.iso.datetime(),
    max_start_time: z.iso.datetime(),
    latency_p50: number,
    latency_p99: number,
    total_tokens: z.int(),
    total_cost: number,
    first_inputs: text,
    last_outputs: text,
    last_error: text,
    feedback_stats: z.record(z.string(), feedbackStat),
  })
  .openapi("TracedThread");

export const threadStatsSchema = z
  .object({
    turns: count,
    first_start_time: time,
    last_start_time: time,
    last_end_time: time,
    latency_p50_seconds: number,
    latency_p99_seconds: number,
    ...amounts,
    feedback_stats: feedbackStats,
  })
  .openapi("ThreadStats");

const nextCursor = z.string().optional();

export const runsPageSchemaV2 = z.object({
  items: z.array(runSchemaV2),
  has_more: z.boolean(),
  next_cursor: nextCursor,
});

export const runListSchema = z.object({ items: z.array(runSchemaV2) });

export const tracesPageSchema = z.object({
  items: z.array(traceSchema),
  next_cursor: nextCursor,
});

export const threadsPageSchema = z.object({
  items: z.array(threadSchema),
  next_cursor: nextCursor,
});

export const threadTracesPageSchema = z.object({
  items: z.array(threadTraceSchema),
  next_cursor: nextCursor,
});
