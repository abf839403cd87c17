import { type Argument, type Expression, FAMILIES, type Literal } from "./expressions.ts";
import { COSTS, DURATIONS, flatten, IDS, type Json, type Run, TIMES } from "./runs.ts";

type Entry = Record<string, Literal>;

const lower = (value: string): string => value.replace(/[A-Z]/g, (x) => x.toLowerCase());

function entriesOf(run: Run, family: string): Entry[] {
  switch (family) {
    case "metadata":
      return flatten(run.metadata).map(([key, value]) => ({ key, value }));
    case "input":
    case "output":
      return run[`${family}s`].map(([key, value]) => ({ key, value }));
    case "tag":
      return run.tags.map((key) => ({ key }));
    default:
      return run.feedback.map((rating) => ({
        ...rating,
        value: rating.value === null ? null : String(rating.value),
      }));
  }
}

/**
 * Returns whether the pattern matches, by the set of places in the value that its characters so far
 * may have reached.
 */
function matchesLike(value: string, pattern: string): boolean {
  const characters = Array.from(lower(value));
  let places = new Set([0]);
  for (const [part, escaped] of lower(pattern).matchAll(/\\([%_\\])|[^]/gu)) {
    if (part === "%") {
      const first = Math.min(...places);
      places = new Set(Array.from({ length: characters.length + 1 - first }, (_, n) => first + n));
      continue;
    }
    const here = [...places].filter(
      (at) => at < characters.length && (part === "_" || characters[at] === (escaped ?? part)),
    );
    places = new Set(here.map((at) => at + 1));
    if (places.size === 0) return false;
  }
  return places.has(characters.length);
}

/** Returns the value that an expression compares the field with, in the unit of the runs above. */
function valueOf(field: string, written: Literal): Literal {
  const table: [Literal, Literal][] = field.endsWith("_time")
    ? TIMES
    : field === "latency"
      ? DURATIONS
      : field.endsWith("_cost")
        ? COSTS
        : [];
  const entry = table.find(([text]) => text === written);
  if (entry !== undefined) return entry[1];
  if (field.endsWith("id") && field !== "thread_id" && typeof written === "string") {
    return IDS.find((id) => id.replaceAll("-", "") === written.replaceAll("-", "")) ?? written;
  }
  if (/^(input|output|metadata|feedback)_value$/.test(field) && written !== null) {
    return String(written);
  }
  return written;
}

/** Returns whether one test holds for one value. Null fulfils only negative tests and those for null. */
function holds(name: string, field: string, actual: Literal, argument: Argument): boolean {
  if (Array.isArray(argument)) {
    return argument.some((item) => actual !== null && actual === valueOf(field, item));
  }
  const expected = valueOf(field, argument as Literal);
  if (name === "eq" || name === "has") return actual === expected;
  if (name === "neq") return actual !== expected;
  if (name === "notlike") return !holds("like", field, actual, argument);
  if (actual === null) return false;
  if (name === "like") return matchesLike(String(actual), String(expected));
  if (name === "search") return lower(String(actual)).includes(lower(String(expected)));
  const [left, right] = [Number(actual), Number(expected)];
  if (name === "gt") return left > right;
  if (name === "gte") return left >= right;
  return name === "lt" ? left < right : left <= right;
}

const WHOLE: Readonly<Record<string, [family: string, member: string]>> = {
  tags: ["tag", "key"],
  inputs: ["input", "value"],
  outputs: ["output", "value"],
  metadata: ["metadata", "value"],
};

function entryField(field: string): [family: string, member: string] | undefined {
  const match = /^(input|output|metadata|feedback)_(.*)$/.exec(field);
  return match === null ? WHOLE[field] : [match[1] ?? "", match[2] ?? ""];
}

function fieldName({ args }: Expression): string {
  const [first] = args;
  return typeof first === "object" && first !== null && "field" in first ? first.field : "";
}

function entryHolds(expression: Expression, entry: Entry): boolean {
  const field = fieldName(expression);
  const member = entryField(field)?.[1] ?? "";
  return holds(expression.call, field, entry[member] ?? null, expression.args[1] ?? null);
}

function groupHolds(family: string, tests: Expression[], run: Run): boolean {
  const entries = entriesOf(run, family);
  const negative = ({ call: name, args }: Expression): boolean =>
    name === "notlike" ||
    (name === "neq" && args[1] !== null) ||
    (name === "eq" && args[1] === null);
  return tests.every(negative)
    ? entries.every((entry) => tests.every((test) => entryHolds(test, entry)))
    : entries.some((entry) => tests.every((test) => entryHolds(test, entry)));
}

/** Returns whether the expression holds for the run, by the definition of the language. */
export function evaluate(expression: Expression, run: Run): boolean {
  const { call: name, args } = expression;
  const operands = args.filter(
    (argument): argument is Expression =>
      typeof argument === "object" && argument !== null && "call" in argument,
  );
  if (name === "not") return operands.every((operand) => !evaluate(operand, run));
  if (name === "or") return operands.some((operand) => evaluate(operand, run));
  if (name === "and") {
    const families = FAMILIES.map((family) => ({
      family,
      tests: operands.filter((operand) => fieldName(operand).startsWith(`${family}_`)),
    }));
    const grouped = new Set(families.flatMap(({ tests }) => tests));
    return (
      families.every(({ family, tests }) => tests.length === 0 || groupHolds(family, tests, run)) &&
      operands.every((operand) => grouped.has(operand) || evaluate(operand, run))
    );
  }
  const field = fieldName(expression);
  if (name === "search" && field === "") return hasWords(run, toText(args[0]));
  if (name === "has" && field === "metadata") {
    const kept = new Set(flatten(run.metadata).map((pair) => JSON.stringify(pair)));
    const wanted = flatten(JSON.parse(toText(args[1])) as Json);
    return wanted.every((pair) => kept.has(JSON.stringify(pair)));
  }
  if (name === "exists") {
    const key = toText(args[1]);
    return flatten(run.metadata).some(([path]) => path === key || path.startsWith(`${key}.`));
  }
  const entry = entryField(field);
  if (entry !== undefined) return groupHolds(entry[0], [expression], run);
  return holds(name, field, fieldValue(run, field), args[1] ?? null);
}

function fieldValue(run: Run, field: string): Literal {
  if (field === "is_root") return run.parent_run_id === null;
  if (field === "execution_order") return run.parent_run_id === null ? 1 : 2;
  if (field === "latency") return run.end_time === null ? null : run.end_time - run.start_time;
  return run[field as "name"];
}

function hasWords(run: Run, words: string): boolean {
  const texts = [run.name, run.error ?? "", ...run.tags].concat(
    [...flatten(run.metadata), ...run.inputs, ...run.outputs].map(([, value]) => value),
  );
  return words
    .split(/[^\p{L}\p{M}\p{N}_]+/u)
    .filter((word) => word.length >= 2)
    .every((word) => texts.some((value) => lower(value).includes(lower(word))));
}

function toText(argument: Argument | undefined): string {
  if (typeof argument === "string") return argument;
  throw new Error("the model writes a text here");
}
