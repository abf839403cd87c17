import type { PayloadField } from "../../../model/run-write.ts";
import { z } from "@hono/zod-openapi";

/** The names that `select` accepts. */
export const RUN_SELECT = [
  "id",
  "name",
  "run_type",
  "start_time",
  "end_time",
  "status",
  "error",
  "extra",
  "events",
  "inputs",
  "inputs_preview",
  "inputs_s3_urls",
  "inputs_or_signed_url",
  "outputs",
  "outputs_preview",
  "outputs_s3_urls",
  "outputs_or_signed_url",
  "s3_urls",
  "error_or_signed_url",
  "events_or_signed_url",
  "extra_or_signed_url",
  "serialized_or_signed_url",
  "parent_run_id",
  "manifest_id",
  "manifest_s3_id",
  "session_id",
  "serialized",
  "reference_example_id",
  "reference_dataset_id",
  "total_tokens",
  "prompt_tokens",
  "prompt_token_details",
  "completion_tokens",
  "completion_token_details",
  "total_cost",
  "prompt_cost",
  "prompt_cost_details",
  "completion_cost",
  "completion_cost_details",
  "price_model_id",
  "first_token_time",
  "trace_id",
  "dotted_order",
  "last_queued_at",
  "feedback_stats",
  "child_run_ids",
  "parent_run_ids",
  "tags",
  "in_dataset",
  "app_path",
  "share_token",
  "trace_tier",
  "trace_first_received_at",
  "ttl_seconds",
  "trace_upgrade",
  "thread_id",
  "trace_min_max_start_time",
  "inserted_at",
] as const;

export type RunSelect = (typeof RUN_SELECT)[number];

/** Members of every response, whatever `select` names, because clients always read them. */
export const ALWAYS_SELECTED: readonly RunSelect[] = [
  "id",
  "name",
  "run_type",
  "start_time",
  "trace_id",
  "dotted_order",
  "status",
  "session_id",
  "app_path",
  // The default selection of clients names none of these, but their types have them.
  "prompt_token_details",
  "completion_token_details",
  "prompt_cost_details",
  "completion_cost_details",
  "s3_urls",
];

const NOT_BY_DEFAULT: ReadonlySet<RunSelect> = new Set([
  "inputs_preview",
  "outputs_preview",
  "inputs_s3_urls",
  "outputs_s3_urls",
  "inputs_or_signed_url",
  "outputs_or_signed_url",
  "error_or_signed_url",
  "events_or_signed_url",
  "extra_or_signed_url",
  "serialized_or_signed_url",
  "child_run_ids",
  "share_token",
  "trace_min_max_start_time",
]);

export const DEFAULT_SELECT: readonly RunSelect[] = RUN_SELECT.filter(
  (field) => !NOT_BY_DEFAULT.has(field),
);

const PAYLOAD_OF: Partial<Record<RunSelect, PayloadField>> = {
  inputs: "inputs",
  inputs_s3_urls: "inputs",
  inputs_or_signed_url: "inputs",
  outputs: "outputs",
  outputs_s3_urls: "outputs",
  outputs_or_signed_url: "outputs",
  error: "error",
  error_or_signed_url: "error",
  events: "events",
  events_or_signed_url: "events",
  extra: "extra",
  extra_or_signed_url: "extra",
  serialized: "serialized",
  serialized_or_signed_url: "serialized",
};

/** Returns the payloads that a selection needs. */
export function payloadsOfSelect(select: Iterable<RunSelect>): PayloadField[] {
  const fields = new Set<PayloadField>();
  for (const name of select) {
    const field = PAYLOAD_OF[name];
    if (field !== undefined) fields.add(field);
  }
  return [...fields];
}

const text = z.string().nullable();
const time = z.iso.datetime().nullable();
const count = z.int().nullable();
/** Costs are decimals in text form, so that nothing is rounded. */
const cost = z.string().nullable();
const object = z.record(z.string(), z.unknown()).nullable();
const anything = z.unknown();
const ids = z.array(z.string());
const countDetails = z.record(z.string(), z.number()).nullable();
const costDetails = z.record(z.string(), z.string()).nullable();
const link = z.object({ presigned_url: z.string(), mime_type: z.string().optional() });
const links = z.record(z.string(), link).nullable();

/** The schema of the member that each name of `select` adds to a run. */
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

/** A run of a trace, with the selected members. */
export const runSchemaV1 = z
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
