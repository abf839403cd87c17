/** Functions of the filter language that take conditions; the lists below take a field. */
export const CONDITIONS = ["and", "or", "not"] as const;

const COMPARED = ["eq", "neq", "gt", "gte", "lt", "lte", "in"];
const TEXTS = ["eq", "neq", "in", "like", "notlike"];
const SEARCHED = [...TEXTS, "search"];

export const FUNCTIONS: Readonly<Record<string, string>> = {
  and: "all conditions hold",
  or: "one of the conditions holds",
  not: "the condition does not hold",
  eq: "is",
  neq: "is not",
  gt: "is greater",
  gte: "is greater or the same",
  lt: "is less",
  lte: "is less or the same",
  in: "is one of a list",
  like: "fits a pattern with %",
  notlike: "does not fit a pattern",
  search: "has a text",
  has: "has a tag, or metadata",
  exists: "has a metadata key",
};

type Field = { functions: readonly string[]; values?: readonly string[] };

/** The fields of a run that a filter can use; `values` are those that the field can have in any project. */
export const FIELDS: Readonly<Record<string, Field>> = {
  name: { functions: SEARCHED },
  status: { functions: TEXTS, values: quoted("success", "error", "pending", "interrupted") },
  error: { functions: SEARCHED, values: ["null"] },
  run_type: {
    functions: TEXTS,
    values: quoted("llm", "tool", "chain", "retriever", "embedding", "prompt", "parser"),
  },
  latency: { functions: COMPARED, values: quoted("500ms", "1s", "5s", "30s", "2m") },
  start_time: { functions: COMPARED },
  end_time: { functions: COMPARED },
  first_token_time: { functions: COMPARED, values: ["null"] },
  total_tokens: { functions: COMPARED, values: ["1000", "10000"] },
  prompt_tokens: { functions: COMPARED, values: ["1000", "10000"] },
  completion_tokens: { functions: COMPARED, values: ["1000", "10000"] },
  total_cost: { functions: COMPARED, values: ["0.01", "0.1"] },
  prompt_cost: { functions: COMPARED, values: ["0.01", "0.1"] },
  completion_cost: { functions: COMPARED, values: ["0.01", "0.1"] },
  is_root: { functions: ["eq", "neq"], values: ["true", "false"] },
  tags: { functions: ["has", ...SEARCHED] },
  metadata: { functions: ["has", "exists", "search"] },
  metadata_key: { functions: SEARCHED },
  metadata_value: { functions: SEARCHED },
  inputs: { functions: ["like", "notlike", "search"] },
  outputs: { functions: ["like", "notlike", "search"] },
  input_key: { functions: SEARCHED },
  input_value: { functions: SEARCHED },
  output_key: { functions: SEARCHED },
  output_value: { functions: SEARCHED },
  feedback_key: { functions: SEARCHED },
  feedback_score: { functions: COMPARED, values: ["0", "1"] },
  feedback_value: { functions: SEARCHED },
  feedback_comment: { functions: SEARCHED },
  feedback_source: { functions: SEARCHED },
  feedback_error: { functions: ["eq", "neq"], values: ["true", "false"] },
  thread_id: { functions: SEARCHED },
  id: { functions: TEXTS },
  trace_id: { functions: TEXTS },
  parent_run_id: { functions: TEXTS, values: ["null"] },
};

function quoted(...texts: string[]): string[] {
  return texts.map((text) => JSON.stringify(text));
}
