/**
 * The type of the values that a field is compared with. Values of "time" and "duration" are in
 * microseconds, those of "usd" in picodollars, those of "uuid" in lower case with dashes.
 */
export type ValueType =
  | "text"
  | "uuid"
  | "run type"
  | "status"
  | "time"
  | "duration"
  | "number"
  | "usd"
  | "boolean"
  /** Text; numbers and booleans stand for their JSON text. */
  | "json text";

/** The kinds of entries, of which a run may have any number: see entry-condition.ts. */
export type Family = "metadata" | "input" | "output" | "feedback" | "tag";

export type EntryMember = "key" | "value" | "score" | "source" | "comment" | "error";

export type FilterField = {
  type: ValueType;
  functions: readonly FunctionName[];
  /** Absent for a field that a run has only once. */
  entry?: { family: Family; member: EntryMember; paired: boolean };
};

const TEXT = ["eq", "neq", "in", "like", "notlike", "search"] as const;
const WORD = ["eq", "neq", "in", "like", "notlike"] as const;
const AMOUNT = ["eq", "neq", "gt", "gte", "lt", "lte", "in"] as const;
const BOOLEAN = ["eq", "neq"] as const;
const LEAVES = ["like", "notlike", "search"] as const;

const uuid: FilterField = { type: "uuid", functions: WORD };
const text: FilterField = { type: "text", functions: TEXT };
const time: FilterField = { type: "time", functions: AMOUNT };
const number: FilterField = { type: "number", functions: AMOUNT };
const usd: FilterField = { type: "usd", functions: AMOUNT };

function entry(
  family: Family,
  member: EntryMember,
  type: ValueType = "text",
  functions: readonly FunctionName[] = TEXT,
): FilterField {
  return { type, functions, entry: { family, member, paired: true } };
}

function unpaired(
  family: Family,
  member: EntryMember,
  type: ValueType,
  functions: readonly FunctionName[],
): FilterField {
  return { type, functions, entry: { family, member, paired: false } };
}

const FIELDS = {
  id: uuid,
  trace_id: uuid,
  parent_run_id: uuid,
  reference_example_id: uuid,
  thread_id: text,
  name: text,
  run_type: { type: "run type", functions: WORD },
  status: { type: "status", functions: WORD },
  start_time: time,
  end_time: time,
  first_token_time: time,
  latency: { type: "duration", functions: AMOUNT },
  error: text,
  is_root: { type: "boolean", functions: BOOLEAN },
  execution_order: { type: "number", functions: BOOLEAN },
  total_tokens: number,
  prompt_tokens: number,
  completion_tokens: number,
  total_cost: usd,
  prompt_cost: usd,
  completion_cost: usd,
  tags: unpaired("tag", "key", "text", ["has", ...TEXT]),
  inputs: unpaired("input", "value", "text", LEAVES),
  outputs: unpaired("output", "value", "text", LEAVES),
  metadata: unpaired("metadata", "value", "text", ["has", "exists", "search"]),
  metadata_key: entry("metadata", "key"),
  metadata_value: entry("metadata", "value", "json text"),
  input_key: entry("input", "key"),
  input_value: entry("input", "value", "json text"),
  output_key: entry("output", "key"),
  output_value: entry("output", "value", "json text"),
  feedback_key: entry("feedback", "key"),
  feedback_score: entry("feedback", "score", "number", AMOUNT),
  feedback_value: entry("feedback", "value", "json text"),
  feedback_source: entry("feedback", "source"),
  feedback_comment: entry("feedback", "comment"),
  feedback_error: entry("feedback", "error", "boolean", BOOLEAN),
} as const satisfies Record<string, FilterField>;

export type FieldName = keyof typeof FIELDS;

export const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];

export function fieldOf(name: FieldName): FilterField {
  return FIELDS[name];
}

export const FUNCTION_NAMES = [
  "and",
  "or",
  "not",
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "in",
  "like",
  "notlike",
  "has",
  "exists",
  "search",
] as const;

export type FunctionName = (typeof FUNCTION_NAMES)[number];
