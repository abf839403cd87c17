import { isObject, jsonOrUndefined } from "../../lib/json.ts";
import type { Leaf } from "../model/run-write.ts";
import {
  describeArgument,
  EXPECTED,
  functionName,
  takeArguments,
  toField,
  toFieldValue,
  toText,
} from "./call-arguments.ts";
import { type FieldName, fieldOf, type FunctionName } from "./fields.ts";
import { FilterError, unexpected } from "./filter-error.ts";
import type { Filter, Predicate, Test } from "./filter-tree.ts";
import { quoted } from "./lexer.ts";
import { lowerAscii } from "./like-pattern.ts";
import { type Argument, type FunctionCall, parseSyntax } from "./syntax.ts";
import { leavesOf, MAX_LEAVES } from "../model/text-leaves.ts";

/** Maximum number of words of a search(text): each is searched for in every text of a run. */
const MAX_WORDS = 32;

/** Maximum length of a pattern or a search text: the time of a search grows with it. */
const MAX_PATTERN_CHARS = 1000;

const WORD = /[\p{L}\p{M}\p{N}_]{2,}/gu;

const PREDICATE = 'a condition such as eq(name, "x")';

/** The functions that test a field against a value. */
type Comparison = Exclude<FunctionName, "and" | "or" | "not" | "has" | "exists">;

/**
 * Parses a filter text to a checked tree. Throws a FilterError for a text that does not follow the
 * grammar, names an unknown function or field, or compares a field with a value that it can never have.
 */
export function parseTree(text: string): Filter {
  return toFilter(parseSyntax(text));
}

function toFilter(call: FunctionCall): Filter {
  const name = functionName(call);
  switch (name) {
    case "and":
    case "or":
      if (call.args.length === 0) {
        throw new FilterError(call.end, `${name} needs at least one condition`, PREDICATE);
      }
      return { kind: name, operands: call.args.map(toCondition) };
    case "not": {
      const [operand] = takeArguments(call, "a condition");
      return { kind: "not", operand: toCondition(operand) };
    }
    case "search":
      return call.args.length === 1 ? toWords(call) : toPredicate(call, name);
    case "exists":
      return toMetadataKey(call);
    case "has":
      return toMembership(call);
    default:
      return toPredicate(call, name);
  }
}

function toCondition(argument: Argument): Filter {
  if (argument.kind === "call") return toFilter(argument);
  throw unexpected(argument.at, PREDICATE, describeArgument(argument));
}

function toPredicate(call: FunctionCall, name: Comparison): Predicate {
  const values = name === "in" ? "a list of values" : name === "search" ? "a text" : "a value";
  const [first, second] = takeArguments(call, "a field", values);
  const field = toField(first, name);
  return rootPredicate(field, second, toTest(name, field, second));
}

function toTest(name: Comparison, field: FieldName, argument: Argument): Test {
  switch (name) {
    case "eq":
    case "neq":
      return { op: name, value: argument.kind === "null" ? null : toFieldValue(field, argument) };
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return { op: name, value: Number(toFieldValue(field, argument)) };
    case "in":
      return { op: "in", values: toList(field, argument) };
    case "like":
    case "notlike":
      return { op: name, pattern: toPattern(name, argument, "a pattern in quotes") };
    case "search":
      return { op: "contains", text: toSearchText(argument) };
  }
}

/** Converts is_root, and the old execution_order = 1, to a test of whether the run has a parent. */
function rootPredicate(field: FieldName, argument: Argument, test: Test): Predicate {
  if (field !== "is_root" && field !== "execution_order") {
    return { kind: "predicate", field, test };
  }
  if ((test.op !== "eq" && test.op !== "neq") || test.value === null) {
    throw unexpected(argument.at, EXPECTED[fieldOf(field).type], describeArgument(argument));
  }
  if (field === "execution_order" && test.value !== 1) {
    const problem = "execution_order is compared with 1 only, which means the root run of a trace";
    throw new FilterError(argument.at, problem, "1");
  }
  const root = (test.op === "eq") === (test.value === 1);
  return {
    kind: "predicate",
    field: "parent_run_id",
    test: { op: root ? "eq" : "neq", value: null },
  };
}

function toMembership(call: FunctionCall): Filter {
  const [first, second] = takeArguments(call, "a field", "a text");
  const field = toField(first, "has");
  if (field !== "metadata") {
    return { kind: "predicate", field, test: { op: "eq", value: toFieldValue(field, second) } };
  }
  const json = toText(
    second,
    'has takes a JSON object in quotes such as "{\\"env\\": \\"prod\\"}"',
  );
  return { kind: "metadata", leaves: toLeaves(json, second.at) };
}

function toMetadataKey(call: FunctionCall): Filter {
  const [first, second] = takeArguments(call, "metadata", "a key");
  toField(first, "exists");
  return { kind: "metadata key", key: toText(second, "exists takes a metadata key in quotes") };
}

function toWords(call: FunctionCall): Filter {
  const [argument] = takeArguments(call, "a text");
  const text = toPattern("search", argument, "a text in quotes");
  const words = [...new Set((text.match(WORD) ?? []).map(lowerAscii))];
  if (words.length === 0) {
    const expected = "a word of two or more letters, digits or underscores";
    throw new FilterError(
      argument.at,
      `search needs ${expected}; ${quoted(text)} has none`,
      expected,
    );
  }
  if (words.length > MAX_WORDS) {
    const problem = `search takes at most ${MAX_WORDS} words, not ${words.length}`;
    throw new FilterError(argument.at, problem, `at most ${MAX_WORDS} words`);
  }
  return { kind: "words", words };
}

function toLeaves(json: string, at: number): Leaf[] {
  const leaves = metadataLeaves(json);
  if (leaves !== null) return leaves;
  const problem = `has(metadata, ...) takes ${METADATA_OBJECT}, not ${quoted(json)}`;
  throw new FilterError(at, problem, METADATA_OBJECT);
}

function toList(field: FieldName, argument: Argument): (string | number)[] {
  if (argument.kind !== "list") {
    const problem = `in takes a list such as ["a", "b"], not ${describeArgument(argument)}`;
    throw new FilterError(argument.at, problem, "a list in square brackets");
  }
  return argument.items.map((item) => {
    if (item.kind === "null") {
      const problem = `null cannot be in a list; use or(eq(${field}, null), ...)`;
      throw new FilterError(item.at, problem, EXPECTED[fieldOf(field).type]);
    }
    return toFieldValue(field, item);
  });
}

function toSearchText(argument: Argument): string {
  const text = toPattern("search", argument, "a text in quotes");
  if (text !== "") return text;
  throw new FilterError(argument.at, "search needs a text that is not empty", "a text in quotes");
}

function toPattern(name: string, argument: Argument, what: string): string {
  const text = toText(argument, `${name} takes ${what}`);
  if (text.length <= MAX_PATTERN_CHARS) return text;
  const expected = `at most ${MAX_PATTERN_CHARS} characters`;
  const problem = `${name} takes ${expected}, not ${text.length}: leave out a part of the text`;
  throw new FilterError(argument.at, problem, expected);
}

/** Describes what `metadataLeaves` accepts, for messages. */
const METADATA_OBJECT =
  `the text of a JSON object with at most ${MAX_LEAVES} values in it, none of them null and no ` +
  "object or list empty";

/**
 * Returns the pairs that a run's metadata stores for such an object: see leavesOf. Returns null for any
 * other text, and for an object that the pairs would not represent completely; "{}" has no pairs.
 */
function metadataLeaves(json: string): Leaf[] | null {
  const object = jsonOrUndefined(json);
  return isObject(object) && isKeptWhole(object) ? leavesOf(object) : null;
}

/** Uses a loop, because the text may be nested as deeply as it is long. */
function isKeptWhole(object: object): boolean {
  const open: unknown[] = Object.values(object);
  let leaves = 0;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "object" && value !== null) {
      const children = Object.values(value);
      if (children.length === 0) return false;
      open.push(...children);
    } else {
      leaves += 1;
      if (value === null || leaves > MAX_LEAVES) return false;
    }
  }
  return true;
}
