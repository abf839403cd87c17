import type { Attachment } from "./run-write.ts";

/** A row of `runs`, as SQLite gives it. */
export type RunRow = {
  seq: number;
  id: string;
  trace_id: string;
  parent_run_id: string | null;
  dotted_order: string;
  name: string;
  run_type: string;
  start_time: number;
  end_time: number | null;
  status: string;
  error: string | null;
  tags: string | null;
  reference_example_id: string | null;
  thread_id: string | null;
  inputs_preview: string | null;
  outputs_preview: string | null;
  first_token_time: number | null;
  own_amounts: string | null;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_cost: number | null;
  completion_cost: number | null;
  total_cost: number | null;
  prompt_token_details: string | null;
  completion_token_details: string | null;
  prompt_cost_details: string | null;
  completion_cost_details: string | null;
  price_model_id: string | null;
  feedback_stats: string | null;
  attachments: string | null;
  attribute_ids: string | null;
  patched: number;
  inserted_at: number;
  received_at: number;
};

export const RUN_COLUMNS = [
  "seq",
  "id",
  "trace_id",
  "parent_run_id",
  "dotted_order",
  "name",
  "run_type",
  "start_time",
  "end_time",
  "status",
  "error",
  "tags",
  "reference_example_id",
  "thread_id",
  "inputs_preview",
  "outputs_preview",
  "first_token_time",
  "own_amounts",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_cost",
  "completion_cost",
  "total_cost",
  "prompt_token_details",
  "completion_token_details",
  "prompt_cost_details",
  "completion_cost_details",
  "price_model_id",
  "feedback_stats",
  "attachments",
  "attribute_ids",
  "patched",
  "inserted_at",
  "received_at",
] as const satisfies (keyof RunRow)[];

/** Of the `attachments` column. */
export function readAttachments(text: string | null): Attachment[] {
  return text === null ? [] : (JSON.parse(text) as Attachment[]);
}
