import { isObject } from "../lib/json.ts";
import type { ValidationDetail } from "../lib/api-error.ts";

/** The parts of a Zod issue that are read here. Issues of unions nest. */
type Issue = {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  [key: string]: unknown;
};

export type ValidationSource = "body" | "query" | "path" | "header";

/**
 * Converts Zod's issues to the entries that the API reports. Types and messages follow pydantic's where there is
 * an obvious equivalent, because clients of the hosted server read those. `input` is the validated value, which
 * tells a missing field from one of a wrong type.
 */
export function toValidationDetail(
  source: ValidationSource,
  issues: readonly unknown[],
  input: unknown,
): ValidationDetail[] {
  return issues.filter(isIssue).flatMap((issue) => describe(source, issue, input, []));
}

function describe(
  source: ValidationSource,
  issue: Issue,
  input: unknown,
  parentPath: PropertyKey[],
): ValidationDetail[] {
  const path = [...parentPath, ...issue.path];
  const loc = [source, ...path.map(toLocPart)];
  if (issue.code === "invalid_union") {
    const nested = likeliestBranch(issue["errors"]);
    if (nested !== null) {
      // Unknown members are ignored, so they are not why the branch failed.
      const reasons = nested.filter(({ code }) => code !== "unrecognized_keys");
      const told = reasons.length > 0 ? reasons : nested;
      return told.flatMap((each) => describe(source, each, input, path));
    }
  }
  if (!hasPath(input, path)) return [{ loc, msg: "Field required", type: "missing" }];
  return [{ loc, ...textOf(issue) }];
}

function textOf(issue: Issue): { msg: string; type: string } {
  switch (issue.code) {
    case "invalid_type":
      return typeText(String(issue["expected"]));
    case "invalid_format":
      return formatText(String(issue["format"]), issue.message);
    case "invalid_value":
      return valueText(Array.isArray(issue["values"]) ? issue["values"] : []);
    case "too_small":
      return boundText(issue, issue["minimum"], "greater_than", "at least", "too_short");
    case "too_big":
      return boundText(issue, issue["maximum"], "less_than", "at most", "too_long");
    case "custom":
      return { msg: issue.message, type: customType(issue["params"]) };
    default:
      return { msg: issue.message, type: "value_error" };
  }
}

const TYPE_TEXTS: Readonly<Record<string, { msg: string; type: string }>> = {
  string: { msg: "Input should be a valid string", type: "string_type" },
  number: { msg: "Input should be a valid number", type: "float_type" },
  int: { msg: "Input should be a valid integer", type: "int_type" },
  boolean: { msg: "Input should be a valid boolean", type: "bool_type" },
  array: { msg: "Input should be a valid list", type: "list_type" },
  object: { msg: "Input should be an object", type: "dict_type" },
  record: { msg: "Input should be an object", type: "dict_type" },
  null: { msg: "Input should be null", type: "none_required" },
};

function typeText(expected: string): { msg: string; type: string } {
  return TYPE_TEXTS[expected] ?? { msg: `Input should be a valid ${expected}`, type: "type_error" };
}

function formatText(format: string, message: string): { msg: string; type: string } {
  if (format === "uuid" || format === "guid") {
    return { msg: "Input should be a valid UUID", type: "uuid_parsing" };
  }
  if (format === "datetime") {
    return { msg: "Input should be a valid datetime", type: "datetime_parsing" };
  }
  if (format === "url") return { msg: "Input should be a valid URL", type: "url_parsing" };
  return { msg: message, type: "string_pattern_mismatch" };
}

function valueText(values: unknown[]): { msg: string; type: string } {
  const quoted = values.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  const last = quoted.pop() ?? "";
  const list = quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
  return { msg: `Input should be ${list}`, type: values.length === 1 ? "literal_error" : "enum" };
}

function boundText(
  issue: Issue,
  bound: unknown,
  comparison: "greater_than" | "less_than",
  amount: string,
  shortType: string,
): { msg: string; type: string } {
  const origin = issue["origin"];
  if (origin === "string") {
    const msg = `String should have ${amount} ${String(bound)} characters`;
    return { msg, type: `string_${shortType}` };
  }
  if (origin === "array" || origin === "set" || origin === "map" || origin === "object") {
    return { msg: `List should have ${amount} ${String(bound)} items`, type: shortType };
  }
  const inclusive = issue["inclusive"] !== false;
  const words = comparison.replace("_", " ");
  return {
    msg: `Input should be ${words}${inclusive ? " or equal to" : ""} ${String(bound)}`,
    type: inclusive ? `${comparison}_equal` : comparison,
  };
}

/**
 * Returns the issues of the branch that matched the input to the greatest depth: most likely the one the client
 * meant.
 */
function likeliestBranch(errors: unknown): Issue[] | null {
  if (!Array.isArray(errors)) return null;
  let best: Issue[] | null = null;
  let bestDepth = -1;
  for (const branch of errors) {
    const issues = Array.isArray(branch) ? branch.filter(isIssue) : [];
    if (issues.length === 0) continue;
    const depth = Math.max(...issues.map((issue) => issue.path.length));
    if (depth > bestDepth) {
      best = issues;
      bestDepth = depth;
    }
  }
  return best;
}

function customType(params: unknown): string {
  const type = isObject(params) ? params["type"] : undefined;
  return typeof type === "string" ? type : "value_error";
}

function hasPath(input: unknown, path: readonly PropertyKey[]): boolean {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return false;
    value = Reflect.get(value, key);
  }
  return true;
}

function toLocPart(key: PropertyKey): string | number {
  return typeof key === "symbol" ? String(key) : key;
}

function isIssue(value: unknown): value is Issue {
  return isObject(value) && Array.isArray(value["path"]) && typeof value["message"] === "string";
}
