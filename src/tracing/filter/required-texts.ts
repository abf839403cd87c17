import { fieldOf } from "./fields.ts";
import type { Filter, Test } from "./filter-tree.ts";
import { parseLike } from "./like-pattern.ts";
import { MAX_ALTERNATIVES } from "./run-terms.ts";

/** Texts that a run must contain, in any case of ASCII letters, for a filter to match it. */
export type RequiredTexts =
  | { kind: "text"; text: string }
  | { kind: "all" | "any"; of: RequiredTexts[] };

/** The columns of `runs` that contain these texts. Lists are JSON, as `JSON.stringify` writes it. */
export const SEARCHED_TEXT_COLUMNS = [
  "name",
  "error",
  "tags",
  "metadata",
  "input_leaves",
  "output_leaves",
] as const;

/** Minimum bytes of a text: nothing is recorded about shorter ones. */
const LEAST_BYTES = 4;

/** Characters that JSON escapes, or that encoders replace. */
const WRITTEN_OTHERWISE = /[\p{Cc}"\\\ufffd]/u;

/** Returns the texts that a filter requires; null if a run may match whatever its texts are. */
export function requiredTexts(filter: Filter): RequiredTexts | null {
  switch (filter.kind) {
    case "and":
      return all(filter.operands.map(requiredTexts));
    case "or":
      return any(filter.operands.map(requiredTexts));
    case "words":
      return all(filter.words.map(textOf));
    case "metadata":
      return all(filter.leaves.flat().map(textOf));
    case "metadata key":
      return textOf(filter.key);
    case "predicate":
      return hasTexts(filter.field) ? ofTest(filter.test) : null;
    case "not":
      return null;
  }
}

function hasTexts(field: Extract<Filter, { kind: "predicate" }>["field"]): boolean {
  const { entry } = fieldOf(field);
  if (entry === undefined) return field === "name" || field === "error";
  return entry.family !== "feedback";
}

function ofTest(test: Test): RequiredTexts | null {
  switch (test.op) {
    case "eq":
      return ofValue(test.value);
    case "in":
      return test.values.length > MAX_ALTERNATIVES ? null : any(test.values.map(ofValue));
    case "contains":
      return textOf(test.text);
    case "like":
      return all(literalsOf(test.pattern).map(textOf));
    default:
      return null;
  }
}

function ofValue(value: string | number | null): RequiredTexts | null {
  return typeof value === "string" ? textOf(value) : null;
}

/** Returns the literals between the wildcards of a pattern. */
function literalsOf(pattern: string): string[] {
  return parseLike(pattern).pieces.flatMap((piece) =>
    piece
      .map((character) => character ?? "\0")
      .join("")
      .split("\0"),
  );
}

/** Requires the parts of a text that a list's JSON contains unescaped. */
function textOf(text: string): RequiredTexts | null {
  const parts = text.toWellFormed().split(WRITTEN_OTHERWISE);
  const long = parts.filter((part) => new TextEncoder().encode(part).length >= LEAST_BYTES);
  return all(long.map((part) => ({ kind: "text", text: part })));
}

function all(required: readonly (RequiredTexts | null)[]): RequiredTexts | null {
  const of = required.filter((each) => each !== null);
  const [first] = of;
  if (first === undefined) return null;
  return of.length === 1 ? first : { kind: "all", of };
}

function any(alternatives: readonly (RequiredTexts | null)[]): RequiredTexts | null {
  const of = alternatives.filter((each) => each !== null);
  return of.length === alternatives.length && of.length > 0 ? { kind: "any", of } : null;
}
