import type { PayloadField } from "../../model/run-write.ts";

/** The names that `selects` accepts. A response has the same names in lower case. */
export const TRACED_RUN_FIELDS = [
  "ID",
  "NAME",
  "RUN_TYPE",
  "STATUS",
  "START_TIME",
  "END_TIME",
  "LATENCY_SECONDS",
  "FIRST_TOKEN_TIME",
  "ERROR",
  "ERROR_PREVIEW",
  "EXTRA",
  "METADATA",
  "EVENTS",
  "INPUTS",
  "INPUTS_PREVIEW",
  "OUTPUTS",
  "OUTPUTS_PREVIEW",
  "MANIFEST",
  "PARENT_RUN_IDS",
  "PROJECT_ID",
  "TRACE_ID",
  "THREAD_ID",
  "DOTTED_ORDER",
  "IS_ROOT",
  "REFERENCE_EXAMPLE_ID",
  "REFERENCE_DATASET_ID",
  "TOTAL_TOKENS",
  "PROMPT_TOKENS",
  "COMPLETION_TOKENS",
  "TOTAL_COST",
  "PROMPT_COST",
  "COMPLETION_COST",
  "PROMPT_TOKEN_DETAILS",
  "COMPLETION_TOKEN_DETAILS",
  "PROMPT_COST_DETAILS",
  "COMPLETION_COST_DETAILS",
  "PRICE_MODEL_ID",
  "TAGS",
  "APP_PATH",
  "ATTACHMENTS",
  "THREAD_EVALUATION_TIME",
  "IS_IN_DATASET",
  "LAST_QUEUED_AT",
  "SHARE_URL",
  "FEEDBACK_STATS",
] as const;

/** The fields that a list of shared runs may show: none that is large or that leads into the workspace. */
export const PUBLIC_LIST_FIELDS = [
  "ID",
  "NAME",
  "RUN_TYPE",
  "STATUS",
  "START_TIME",
  "END_TIME",
  "LATENCY_SECONDS",
  "FIRST_TOKEN_TIME",
  "ERROR",
  "ERROR_PREVIEW",
  "EXTRA",
  "METADATA",
  "INPUTS_PREVIEW",
  "OUTPUTS_PREVIEW",
  "PARENT_RUN_ID",
  "PARENT_RUN_IDS",
  "PROJECT_ID",
  "TRACE_ID",
  "THREAD_ID",
  "DOTTED_ORDER",
  "IS_ROOT",
  "REFERENCE_DATASET_ID",
  "TOTAL_TOKENS",
  "PROMPT_TOKENS",
  "COMPLETION_TOKENS",
  "TOTAL_COST",
  "PROMPT_COST",
  "COMPLETION_COST",
  "PROMPT_TOKEN_DETAILS",
  "COMPLETION_TOKEN_DETAILS",
  "PROMPT_COST_DETAILS",
  "COMPLETION_COST_DETAILS",
  "PRICE_MODEL_ID",
  "TAGS",
  "THREAD_EVALUATION_TIME",
  "FEEDBACK_STATS",
] as const;

/** The fields that a single shared run may show, which include its contents. */
export const PUBLIC_RUN_FIELDS = [
  ...PUBLIC_LIST_FIELDS,
  "EVENTS",
  "INPUTS",
  "OUTPUTS",
  "MANIFEST",
  "ATTACHMENTS",
] as const;

export type RunField = (typeof TRACED_RUN_FIELDS)[number] | (typeof PUBLIC_LIST_FIELDS)[number];

/** Without `selects`, a response contains only the ids. */
export const DEFAULT_FIELDS: readonly RunField[] = ["ID"];

const PAYLOAD_OF: Partial<Record<RunField, PayloadField>> = {
  ERROR: "error",
  EXTRA: "extra",
  METADATA: "extra",
  EVENTS: "events",
  INPUTS: "inputs",
  OUTPUTS: "outputs",
  MANIFEST: "serialized",
};

/** Returns the payloads that are needed for these fields. */
export function payloadsOfFields(fields: Iterable<RunField>): PayloadField[] {
  const payloads = new Set<PayloadField>();
  for (const field of fields) {
    const payload = PAYLOAD_OF[field];
    if (payload !== undefined) payloads.add(payload);
  }
  return [...payloads];
}
