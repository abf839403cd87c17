import { z } from "@hono/zod-openapi";
import type { RunSelect } from "./run-select.ts";

const text = z.string().nullable();
const time = z.iso.datetime().nullable();
const count = z.int().nullable();
/** Costs are decimals as texts, so that nothing is rounded. */
const cost = z.string().nullable();
const object = z.record(z.string(), z.unknown()).nullable();
const anything = z.unknown();
const ids = z.array(z.string());
const countDetails = z.record(z.string(), z.number()).nullable();
const costDetails = z.record(z.string(), z.string()).nullable();
const link = z.object({ presigned_url: z.string(), mime_type: z.string().optional() });
const links = z.record(z.string(), link).nullable();

/** What each name of `select` adds to a run. */
const SELECTED: Record<Exclude<RunSelect, "trace_min_max_start_time" | SignedUrl>, z.ZodType> = {
  id: z.string(),
  name: z.string(),
  run_type: z.string(),
  start_time: z.iso.datetime(),
  end_time: time,
  status: z.enum(["success", "error", "pending", "interrupted"]),
  error: text,
  extra: object,
  events: z.array(z.unknown()).nullable(),
  inputs: anything,
  inputs_preview: text,
  inputs_s3_urls: links,
  outputs: anything,
  outputs_preview: text,
  outputs_s3_urls: links,
  s3_urls: links,
  parent_run_id: text,
  manifest_id: z.null(),
  manifest_s3_id: z.null(),
  session_id: z.string(),
  serialized: anything,
  reference_example_id: text,
  reference_dataset_id: text,
  total_tokens: count,
  prompt_tokens: count,
  prompt_token_details: countDetails,
  completion_tokens: count,
  completion_token_details: countDetails,
  total_cost: cost,
  prompt_cost: cost,
  prompt_cost_details: costDetails,
  completion_cost: cost,
  completion_cost_details: costDetails,
  price_model_id: text,
  first_token_time: time,
  trace_id: z.string(),
  dotted_order: z.string(),
  last_queued_at: time,
  feedback_stats: object,
  child_run_ids: ids,
  parent_run_ids: ids,
  tags: ids,
  in_dataset: z.boolean(),
  app_path: z.string(),
  share_token: text,
  trace_tier: z.string(),
  trace_first_received_at: time,
  ttl_seconds: count,
  trace_upgrade: z.boolean(),
  thread_id: text,
  inserted_at: time,
};

type SignedUrl = Extract<RunSelect, `${string}_or_signed_url`>;

/** A run of a trace, with the members that were selected. */
export const runSchema = z
  .object(SELECTED)
  .extend({
    direct_child_run_ids: ids,
    trace_min_start_time: z.iso.datetime(),
    trace_max_start_time: z.iso.datetime(),
  })
  .partial()
  .required({
    id: true,
    name: true,
    run_type: true,
    start_time: true,
    trace_id: true,
    dotted_order: true,
    status: true,
    session_id: true,
    app_path: true,
  })
  .openapi("RunSchema");
