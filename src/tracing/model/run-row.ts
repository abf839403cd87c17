import { ownTime } from "./dotted-order.ts";
import type { Attachment, PayloadField, RunWrite } from "./run-write.ts";

/** The columns of `runs` that a page returns, as SQLite returns them. */
export type TracedRunRow = {
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
  patched: number;
  inserted_at: number;
  received_at: number;
};

/** The columns of a run that hold tokens and costs: its own, or those of its subtree. */
export const AMOUNT_COLUMNS = [
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
] as const satisfies (keyof TracedRunRow)[];

export type AmountColumns = Pick<TracedRunRow, (typeof AMOUNT_COLUMNS)[number]>;

export const NO_AMOUNTS: AmountColumns = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_cost: null,
  completion_cost: null,
  total_cost: null,
  prompt_token_details: null,
  completion_token_details: null,
  prompt_cost_details: null,
  completion_cost_details: null,
};

export const RUN_COLUMNS = [
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
  ...AMOUNT_COLUMNS,
  "price_model_id",
  "feedback_stats",
  "attachments",
  "patched",
  "inserted_at",
  "received_at",
] as const satisfies (keyof TracedRunRow)[];

/** Further columns that filters need: JSON lists of `Leaf`. */
export type RunLeaves = {
  metadata: string | null;
  input_leaves: string | null;
  output_leaves: string | null;
};

export const LEAF_COLUMNS = [
  "metadata",
  "input_leaves",
  "output_leaves",
] as const satisfies (keyof RunLeaves)[];

/** The column that holds each payload; the column `error` holds the first characters of an error. */
export const PAYLOAD_COLUMN = {
  inputs: "inputs",
  outputs: "outputs",
  events: "events",
  extra: "extra",
  serialized: "serialized",
  error: "error_json",
} as const satisfies Record<PayloadField, string>;

/** Returns the row of a run of which nothing is stored yet. */
export function newRunRow(write: RunWrite, now: number): TracedRunRow & RunLeaves {
  const { identity } = write;
  if (identity === undefined) throw new Error("a new run needs its place in the tree");
  return {
    id: write.id,
    trace_id: identity.traceId,
    parent_run_id: identity.parentRunId,
    dotted_order: identity.dottedOrder,
    // These values are used until the create arrives, if a patch came first.
    name: "",
    run_type: "chain",
    start_time: ownTime(identity.dottedOrder),
    end_time: null,
    status: "pending",
    error: null,
    tags: null,
    reference_example_id: null,
    thread_id: null,
    inputs_preview: null,
    outputs_preview: null,
    first_token_time: null,
    own_amounts: null,
    ...NO_AMOUNTS,
    price_model_id: null,
    feedback_stats: null,
    attachments: null,
    patched: 0,
    inserted_at: now,
    received_at: now,
    metadata: null,
    input_leaves: null,
    output_leaves: null,
  };
}

/** Parses the `attachments` column. */
export function readAttachments(text: string | null): Attachment[] {
  return text === null ? [] : (JSON.parse(text) as Attachment[]);
}
