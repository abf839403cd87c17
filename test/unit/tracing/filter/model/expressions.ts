import fc from "fast-check";
import {
  COSTS,
  DURATIONS,
  ERRORS,
  FEEDBACK_KEYS,
  IDS,
  type Json,
  KEYS,
  metadata,
  oneOf,
  PATTERNS,
  SCORES,
  some,
  TAGS,
  TEXTS,
  TIMES,
  uuid,
  VALUES,
} from "./runs.ts";

type Field = { field: string };
export type Literal = string | number | boolean | null;
export type Expression = { call: string; args: Argument[] };
export type Argument = Expression | Field | Literal | Literal[];

const call = (name: string, ...args: Argument[]): Expression => ({ call: name, args });

export function print(argument: Argument): string {
  if (Array.isArray(argument)) return `[${argument.map(print).join(", ")}]`;
  if (typeof argument !== "object" || argument === null) return JSON.stringify(argument);
  if ("field" in argument) return argument.field;
  return `${argument.call}(${argument.args.map(print).join(", ")})`;
}

type Literals = fc.Arbitrary<Literal>;

function tests(
  field: string,
  functions: readonly string[],
  value: Literals,
  nullable = true,
): fc.Arbitrary<Expression> {
  const named = (name: string) => (argument: Literal | Literal[]) =>
    call(name, { field }, argument);
  return oneOf(functions).chain((name) => {
    if (name === "in") return fc.array(value, { maxLength: 3 }).map(named(name));
    if (name.endsWith("like")) return oneOf(PATTERNS).map(named(name));
    if (name === "search") return oneOf(TEXTS.filter((text) => text !== "")).map(named(name));
    const absent = nullable && name.endsWith("eq");
    return (absent ? fc.option(value, { freq: 5 }) : value).map(named(name));
  });
}

const WORD = ["eq", "neq", "in", "like", "notlike"];
const TEXT = [...WORD, "search"];
const AMOUNT = ["eq", "neq", "gt", "gte", "lt", "lte", "in"];
const text = oneOf<Literal>(TEXTS);
const id = oneOf<Literal>([...IDS, uuid(4).toUpperCase(), uuid(5).replaceAll("-", "")]);
const time = oneOf<Literal>(TIMES.map(([written]) => written));
const usd = oneOf<Literal>(COSTS.map(([written]) => written));
const tokens = oneOf<Literal>([0, 1, 11.5, 12]);
const leafValue = oneOf<Literal>([...TEXTS, 12, true, 1.5]);

const paired = {
  metadata: [
    tests("metadata_key", TEXT, oneOf<Literal>(KEYS)),
    tests("metadata_value", TEXT, leafValue),
  ],
  input: [tests("input_key", TEXT, oneOf<Literal>(KEYS)), tests("input_value", TEXT, leafValue)],
  output: [tests("output_key", TEXT, oneOf<Literal>(KEYS)), tests("output_value", TEXT, leafValue)],
  feedback: [
    tests("feedback_key", TEXT, oneOf<Literal>(FEEDBACK_KEYS)),
    tests("feedback_score", AMOUNT, oneOf<Literal>(SCORES)),
    tests("feedback_value", TEXT, oneOf<Literal>(VALUES)),
    tests("feedback_source", TEXT, oneOf<Literal>(["api", "model"])),
    tests("feedback_comment", TEXT, text),
    tests("feedback_error", ["eq", "neq"], oneOf<Literal>([true, false])),
  ],
};

/** Conditions on entries, each of which may hold for any entry. */
const unpaired = {
  tags: tests("tags", ["has", ...TEXT], oneOf<Literal>(TAGS)),
  inputs: tests("inputs", ["like", "notlike", "search"], text),
  outputs: tests("outputs", ["like", "notlike", "search"], text),
  metadata: tests("metadata", ["search"], text),
};

const single = fc.oneof(
  tests("id", WORD, id),
  tests("trace_id", WORD, id),
  tests("parent_run_id", WORD, id),
  tests("reference_example_id", WORD, id),
  tests("thread_id", TEXT, text),
  tests("name", TEXT, text),
  tests("run_type", WORD, oneOf<Literal>(["llm", "chain", "embedding"])),
  tests("status", WORD, oneOf<Literal>(["error", "success", "interrupted"])),
  tests("start_time", AMOUNT, time),
  tests("end_time", AMOUNT, time),
  tests("first_token_time", AMOUNT, time),
  tests("latency", AMOUNT, oneOf<Literal>(DURATIONS.map(([written]) => written))),
  tests("error", TEXT, oneOf<Literal>(ERRORS)),
  tests("is_root", ["eq", "neq"], oneOf<Literal>([true, false]), false),
  tests("execution_order", ["eq", "neq"], fc.constant(1), false),
  tests("total_tokens", AMOUNT, tokens),
  tests("prompt_tokens", AMOUNT, tokens),
  tests("completion_tokens", AMOUNT, tokens),
  tests("total_cost", AMOUNT, usd),
  tests("prompt_cost", AMOUNT, usd),
  tests("completion_cost", AMOUNT, usd),
  ...Object.values(unpaired),
  metadata.map((object) => call("has", { field: "metadata" }, JSON.stringify(keptWhole(object)))),
  oneOf([...KEYS, "us"]).map((key) => call("exists", { field: "metadata" }, key)),
  oneOf(["agent", "100% boom!", "naïve 漢字", "chat_model a", "XYZ, xyy", "beta env"]).map(
    (words) => call("search", words),
  ),
);

const predicate = fc.oneof(
  { weight: 3, arbitrary: single },
  { weight: 2, arbitrary: fc.oneof(...Object.values(paired).flat()) },
);

export const FAMILIES = Object.keys(paired);

/** Conditions on the same entry, and perhaps one on something else. */
const group = fc
  .oneof(
    ...Object.values(paired).map((tests) => some(fc.oneof(...tests), 3)),
    ...Object.values(unpaired).map((test) => some(test, 3)),
  )
  .chain((tests) => some(predicate, 1).map((others) => tests.concat(others)))
  .filter((operands) => operands.length > 0)
  .map((operands) => call("and", ...operands));

export const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    predicate,
    { weight: 2, arbitrary: group },
    tie("expression").map((operand) => call("not", operand)),
    fc
      .tuple(oneOf(["and", "or"]), fc.array(tie("expression"), { minLength: 1, maxLength: 3 }))
      .map(([name, operands]) => call(name, ...operands)),
  ),
}));

function keptWhole(object: { [key: string]: Json }): { [key: string]: Json } {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => !Array.isArray(value) || value.length > 0),
  );
}
