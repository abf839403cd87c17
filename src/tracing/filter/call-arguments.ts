import {
  type Family,
  FIELD_NAMES,
  type FieldName,
  fieldOf,
  FUNCTION_NAMES,
  type FunctionName,
  type ValueType,
} from "./fields.ts";
import { FilterError, suggestion, unexpected } from "./filter-error.ts";
import { quoted } from "./lexer.ts";
import type { Argument, FunctionCall, Literal } from "./syntax.ts";
import { clipText, MAX_LEAF_CHARS } from "../model/text-leaves.ts";
import { type Micros, parseTime } from "../../lib/time.ts";
import { parseUuid } from "../../lib/uuid.ts";
import { RUN_TYPES } from "../model/run-write.ts";
import type { Value } from "./filter-tree.ts";

/** The functions below throw a FilterError for an argument that does not fit. */

export function functionName(call: FunctionCall): FunctionName {
  const name = FUNCTION_NAMES.find((known) => known === call.name);
  if (name !== undefined) return name;
  const problem =
    `unknown function ${call.name}${suggestion(call.name, FUNCTION_NAMES)} ` +
    `(functions: ${FUNCTION_NAMES.join(", ")})`;
  throw new FilterError(call.at, problem, "a function");
}

/** Returns the arguments of a call, which must be as many as `names`. */
export function takeArguments<Names extends string[]>(
  call: FunctionCall,
  ...names: Names
): { [Index in keyof Names]: Argument } {
  const { name, args } = call;
  if (args.length !== names.length) {
    const expected = `${names.length} argument${names.length === 1 ? "" : "s"}`;
    const problem = `${name} takes ${expected} (${names.join(", ")}), not ${args.length}`;
    throw new FilterError(args[names.length]?.at ?? call.end, problem, names.join(", "));
  }
  return args as { [Index in keyof Names]: Argument };
}

/** Returns the field that an argument names, bare or in quotes, if the function can be used with it. */
export function toField(argument: Argument, used: FunctionName): FieldName {
  if (argument.kind !== "name" && argument.kind !== "string") {
    throw unexpected(argument.at, "a field such as name", describeArgument(argument));
  }
  const given = argument.kind === "name" ? argument.name : argument.value;
  const field = FIELD_NAMES.find((name) => name === given);
  if (field === undefined) {
    const shown = argument.kind === "name" ? given : quoted(given);
    const problem =
      `unknown field ${shown}${suggestion(given, FIELD_NAMES)} ` +
      `(fields: ${FIELD_NAMES.join(", ")})`;
    throw new FilterError(argument.at, problem, "a field");
  }
  const { functions } = fieldOf(field);
  if (!functions.includes(used)) {
    const expected = functions.join(", ");
    const problem = `${used} cannot be used with ${field}, only ${expected}`;
    throw new FilterError(argument.at, problem, expected);
  }
  return field;
}

/** `rule` says what is accepted, for the message. */
export function toText(argument: Argument, rule: string): string {
  if (argument.kind === "string") return argument.value;
  const problem = `${rule}, not ${describeArgument(argument)}`;
  throw new FilterError(argument.at, problem, "a text in quotes");
}

const DURATION = /^(\d+(?:\.\d+)?) ?(us|ms|s|m|h|d)$/;

/** The microseconds of each unit: a power of ten, times a factor. */
const DURATION_UNITS: Readonly<Record<string, [power: number, factor: number]>> = {
  us: [0, 1],
  ms: [3, 1],
  s: [6, 1],
  m: [6, 60],
  h: [6, 3600],
  d: [6, 86_400],
};

/** The families that are compared with text leaves, which are stored up to MAX_LEAF_CHARS only. */
const CLIPPED: ReadonlySet<Family> = new Set(["metadata", "input", "output"]);

/** "interrupted" is a valid status in filters, although no run of this store has it. */
const STATUSES = ["pending", "success", "error", "interrupted"];

const VOCABULARIES: Partial<Record<ValueType, readonly string[]>> = {
  "run type": RUN_TYPES,
  status: STATUSES,
};

const MICROS_POWER = 6;
const PICODOLLARS_POWER = 12;

/** How a value of each type is written, for messages. */
export const EXPECTED: Readonly<Record<ValueType, string>> = {
  text: "a text in quotes",
  uuid: "a UUID in quotes",
  "run type": `one of ${RUN_TYPES.map((type) => `"${type}"`).join(", ")}`,
  status: `one of ${STATUSES.map((status) => `"${status}"`).join(", ")}`,
  time: 'an ISO 8601 time in quotes such as "2026-01-31T12:00:00Z", from 1970 to 2255',
  duration: 'a number of seconds, or a duration in quotes such as "5s", "1500ms" or "2m"',
  number: "a number",
  usd: "a number (US dollars)",
  boolean: "true or false",
  "json text": "a text in quotes, a number, true or false",
};

/** Returns the argument in the unit of the field's column. Throws a FilterError. */
export function toFieldValue(name: FieldName, argument: Argument): Value {
  const { type, entry } = fieldOf(name);
  const value = isLiteral(argument) ? convert(type, argument) : undefined;
  if (value === undefined) throw mismatch(name, type, argument);
  const clipped = entry !== undefined && CLIPPED.has(entry.family);
  return clipped && typeof value === "string" ? clipText(value, MAX_LEAF_CHARS) : value;
}

/** Describes an argument for a message. */
export function describeArgument(argument: Argument): string {
  switch (argument.kind) {
    case "string":
      return quoted(argument.value);
    case "number":
      return argument.text;
    case "boolean":
      return String(argument.value);
    case "null":
      return "null";
    case "name":
      return `the name ${argument.name}`;
    case "list":
      return "a list";
    case "call":
      return `the function ${argument.name}`;
  }
}

function convert(type: ValueType, literal: Literal): Value | undefined {
  switch (type) {
    case "text":
      return literal.kind === "string" ? literal.value : undefined;
    case "json text":
      return jsonText(literal);
    case "uuid":
      return literal.kind === "string" ? (parseUuid(literal.value) ?? undefined) : undefined;
    case "run type":
      return member(RUN_TYPES, literal);
    case "status":
      return member(STATUSES, literal);
    case "time":
      return literal.kind === "string" ? (parseTime(literal.value) ?? undefined) : undefined;
    case "duration":
      return literal.kind === "string"
        ? (parseDuration(literal.value) ?? undefined)
        : toNumber(literal, MICROS_POWER);
    case "number":
      return toNumber(literal, 0);
    case "usd":
      return toNumber(literal, PICODOLLARS_POWER);
    case "boolean":
      return literal.kind === "boolean" ? Number(literal.value) : undefined;
  }
}

function isLiteral(argument: Argument): argument is Literal {
  return argument.kind !== "name" && argument.kind !== "list" && argument.kind !== "call";
}

function mismatch(name: FieldName, type: ValueType, argument: Argument): FilterError {
  const expected = EXPECTED[type];
  const problem =
    `${name} is compared with ${expected}, not with ` +
    `${describeArgument(argument)}${hint(type, argument)}`;
  return new FilterError(argument.at, problem, expected);
}

function hint(type: ValueType, argument: Argument): string {
  switch (argument.kind) {
    case "string":
      return suggestion(argument.value, VOCABULARIES[type] ?? []);
    case "name":
      return "; a text has to be in quotes";
    case "list":
      return "; for several values use in";
    default:
      return "";
  }
}

function toNumber(literal: Literal, power: number): number | undefined {
  if (literal.kind !== "number") return undefined;
  const value = scaled(literal.text, power);
  if (Number.isFinite(value)) return value;
  throw new FilterError(literal.at, `the number ${quoted(literal.text)} is too large`, "a number");
}

/** Returns the text of a literal as JavaScript writes it; undefined for null. */
function jsonText(literal: Literal): string | undefined {
  switch (literal.kind) {
    case "string":
      return literal.value;
    case "number":
      return String(toNumber(literal, 0));
    case "boolean":
      return String(literal.value);
    case "null":
      return undefined;
  }
}

function member(known: readonly string[], literal: Literal): string | undefined {
  return literal.kind === "string" && known.includes(literal.value) ? literal.value : undefined;
}

/** Parses "5s", "1500ms" or "2m", also with us, h and d, into microseconds; null for any other text. */
function parseDuration(text: string): Micros | null {
  const match = DURATION.exec(text);
  const [power, factor] = DURATION_UNITS[match?.[2] ?? ""] ?? [];
  if (power === undefined || factor === undefined) return null;
  const micros = scaled(match?.[1] ?? "", power) * factor;
  return Number.isFinite(micros) ? micros : null;
}

/**
 * Returns a decimal number times 10^power, rounded only once: "1.005" times 10^12 is an integer, whereas
 * the product 1.005 * 1e12 is not.
 */
function scaled(decimal: string, power: number): number {
  const [mantissa = "", exponent = "0"] = decimal.toLowerCase().split("e");
  return Number(`${mantissa}e${Number(exponent) + power}`);
}
