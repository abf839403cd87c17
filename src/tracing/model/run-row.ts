import { ownTime } from "./dotted-order.ts";
import type { Attachment, RunWrite } from "./run-write.ts";

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

/** A run of which nothing is stored yet. */
export function newRunRow(write: RunWrite, seq: number, now: number): RunRow {
  const { identity } = write;
  if (identity === undefined) throw new Error("a new run needs its place in the tree");
  return {
    seq,
    id: write.id,
    trace_id: identity.traceId,
    parent_run_id: identity.parentRunId,
    dotted_order: identity.dottedOrder,
    // Until its create arrives, when a patch came first.
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
    price_model_id: null,
    feedback_stats: null,
    attachments: null,
    attribute_ids: null,
    patched: 0,
    inserted_at: now,
    received_at: now,
  };
}

/** Reads the `attachments` column. */
export function readAttachments(text: string | null): Attachment[] {
  return text === null ? [] : (JSON.parse(text) as Attachment[]);
}

/** How a shard numbers the payloads of a run: `payloads.key` is `seq * PAYLOADS_PER_RUN` and one of these. */
export const PAYLOAD_NUMBER = {
  inputs: 0,
  outputs: 1,
  events: 2,
  extra: 3,
  serialized: 4,
  error: 5,
  /** JSON `[[path, text], ...]`, what input_key and input_value are asked of. */
  inputLeaves: 6,
  outputLeaves: 7,
} as const;

/** Eight numbers are three bits, all of which are taken. */
export const PAYLOADS_PER_RUN = 8;

/** A row of `payloads`. */
export type PayloadRow = {
  key: number;
  body: string | null;
  object: string | null;
  bytes: number | null;
};
