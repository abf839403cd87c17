import type { MetadataFilter } from "../../lib/metadata-filter.ts";

/** How many conditions a filter may have, and how deep its `$or` and `$and` may nest: D1 limits its expressions. */
const MAX_CONDITIONS = 100;
const MAX_DEPTH = 4;

/** A handler returned something that is not a filter. It meant to restrict access, so it must not allow everything. */
export class InvalidFilterError extends Error {
  override readonly name = "InvalidFilterError";
}

/**
 * The filter that a handler returned: keys of metadata with a value, `{"$eq": value}` or
 * `{"$contains": value or values}`, `$or` and `$and` with lists of filters; all that is in an object
 * has to hold, so an empty one allows everything. Throws an `InvalidFilterError` for anything else, also
 * where it would come to nothing: maps, sets, gaps in lists, a key that metadata cannot have.
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
    if (key.startsWith("$")) throw new InvalidFilterError(`${here} is no operator`);
    if (key === "__proto__") throw new InvalidFilterError(`${here} is no key of metadata`);
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
    if (operator !== "$contains") throw new InvalidFilterError(`${here} is no operator`);
    const wanted: unknown[] = Array.isArray(operand) ? Array.from(operand) : [operand];
    if (wanted.length === 0) throw new InvalidFilterError(`${here} must not be an empty list`);
    return wanted.map((one) => ({ op: "contains", key, value: scalar(one, here, counter) }));
  });
}

/** Null or undefined most likely is a property that a user lacks, so it must not match metadata that lacks it, too. */
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
