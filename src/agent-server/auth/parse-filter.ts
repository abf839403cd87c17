import type { MetadataFilter } from "../../lib/metadata-filter.ts";

/** Maximum number of conditions, and maximum nesting of `$or` and `$and`: D1 limits the size of expressions. */
const MAX_CONDITIONS = 100;
const MAX_DEPTH = 4;

/**
 * A handler returned something that is not a filter. It meant to restrict access, so it must not allow everything.
 */
export class InvalidFilterError extends Error {
  override readonly name = "InvalidFilterError";
}

/**
 * Parses the filter that a handler returned: metadata keys with a value, `{"$eq": value}` or `{"$contains": value
 * or values}`, and `$or` and `$and` with lists of filters. All conditions of an object must hold, so an empty
 * object allows everything. Throws an `InvalidFilterError` for anything else, including values that would
 * otherwise be ignored: maps, sets, gaps in lists, a key that metadata cannot have.
 */
export function parseAuthFilter(filter: Record<string, unknown>): MetadataFilter {
  const counter = { conditions: 0 };
  return parseObject(filter, "", 0, counter);
}

type Counter = { conditions: number };

function parseObject(filter: unknown, at: string, depth: number, counter: Counter): MetadataFilter {
  if (!isPlainObject(filter))
    throw new InvalidFilterError(`${at || "The filter"} must be an object`);
  if (depth > MAX_DEPTH)
    throw new InvalidFilterError(`$or and $and nest more than ${MAX_DEPTH} deep`);
  const of = Object.entries(filter).map(([key, value]): MetadataFilter => {
    const here = at === "" ? key : `${at}.${key}`;
    if (key === "$or" || key === "$and") {
      if (!Array.isArray(value) || value.length === 0) {
        throw new InvalidFilterError(`${here} must be a list with at least one filter`);
      }
      const parts = Array.from(value, (part: unknown, index) =>
        parseObject(part, `${here}[${index}]`, depth + 1, counter),
      );
      return key === "$or" ? { op: "any", of: parts } : { op: "all", of: parts };
    }
    if (key.startsWith("$")) throw new InvalidFilterError(`${here} is not an operator`);
    if (key === "__proto__") throw new InvalidFilterError(`${here} cannot be a metadata key`);
    return { op: "all", of: parseKey(key, value, here, counter) };
  });
  return { op: "all", of };
}

function parseKey(key: string, value: unknown, at: string, counter: Counter): MetadataFilter[] {
  if (!isPlainObject(value)) return [{ op: "equals", key, value: scalar(value, at, counter) }];
  const operators = Object.entries(value);
  if (operators.length === 0) throw new InvalidFilterError(`${at} has no operator`);
  return operators.flatMap(([operator, operand]): MetadataFilter[] => {
    const here = `${at}.${operator}`;
    if (operator === "$eq") return [{ op: "equals", key, value: scalar(operand, here, counter) }];
    if (operator !== "$contains") throw new InvalidFilterError(`${here} is not an operator`);
    const wanted: unknown[] = Array.isArray(operand) ? Array.from(operand) : [operand];
    if (wanted.length === 0) throw new InvalidFilterError(`${here} must not be an empty list`);
    return wanted.map((one) => ({ op: "contains", key, value: scalar(one, here, counter) }));
  });
}

/**
 * Rejects null and undefined: they most likely come from a property that the user lacks, and must not match
 * metadata that lacks it, too.
 */
function scalar(value: unknown, at: string, counter: Counter): string | number | boolean {
  counter.conditions += 1;
  if (counter.conditions > MAX_CONDITIONS) {
    throw new InvalidFilterError(`A filter has at most ${MAX_CONDITIONS} conditions`);
  }
  const isText = typeof value === "string" && value.isWellFormed() && !value.includes("\0");
  if (isText || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new InvalidFilterError(`${at} must be a text, a number or a boolean`);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
