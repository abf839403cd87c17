import { allOf, type Sql, sql } from "./sql.ts";

/** D1 binds at most 100 parameters to a statement: two filters and the rest have to fit. */
export const MAX_FILTER_SIZE = 40;

/** D1 limits the depth of an expression to 100; a level here takes about 13 of them. */
export const MAX_FILTER_DEPTH = 5;

export type JsonFilter = Record<string, unknown>;

/**
 * The condition that the JSON object `column` contains `filter`, as Postgres' `@>` does: each key of
 * the filter is there and contained, each element of a filter's array is contained in some element.
 * Keys and values are bound, so that any text is safe.
 */
export function containsJson(column: string, filter: JsonFilter): Sql {
  return containsObject(column, filter, 0);
}

/** How many keys and values there are, at least as many as `containsJson` binds; and how deep. */
export function filterSize(filter: unknown): { size: number; depth: number } {
  if (typeof filter !== "object" || filter === null) return { size: 1, depth: 0 };
  const keySize = Array.isArray(filter) ? 0 : 1;
  let size = 0;
  let depth = 0;
  for (const child of Object.values(filter)) {
    const nested = filterSize(child);
    size += keySize + nested.size;
    depth = Math.max(depth, nested.depth);
  }
  return { size, depth: depth + 1 };
}

function containsObject(object: string, filter: JsonFilter, depth: number): Sql {
  const child = `e${depth}`;
  return allOf(
    Object.entries(filter).map(([key, value]) => {
      const match = matches(child, value, depth + 1);
      return {
        text: `EXISTS (SELECT 1 FROM json_each(${object}) AS ${child} WHERE ${child}.key = ? AND ${match.text})`,
        params: [key, ...match.params],
      };
    }),
  );
}

function containsElements(array: string, filter: unknown[], depth: number): Sql {
  const child = `e${depth}`;
  return allOf(
    filter.map((value) => {
      const match = matches(child, value, depth + 1);
      return {
        text: `EXISTS (SELECT 1 FROM json_each(${array}) AS ${child} WHERE ${match.text})`,
        params: match.params,
      };
    }),
  );
}

/** The condition that the row `element` of a json_each contains `filter`. */
function matches(element: string, filter: unknown, depth: number): Sql {
  if (filter === null) return sql(`${element}.type = 'null'`);
  if (typeof filter === "boolean") return sql(`${element}.type = '${String(filter)}'`);
  if (typeof filter === "number") {
    return sql(`${element}.type IN ('integer', 'real') AND ${element}.value = ?`, filter);
  }
  if (typeof filter === "string") {
    return sql(`${element}.type = 'text' AND ${element}.value = ?`, filter);
  }
  if (Array.isArray(filter)) {
    const nested = containsElements(guarded(element, "array", "[]"), filter, depth);
    return { ...nested, text: `${element}.type = 'array' AND ${nested.text}` };
  }
  const nested = containsObject(guarded(element, "object", "{}"), toRecord(filter), depth);
  return { ...nested, text: `${element}.type = 'object' AND ${nested.text}` };
}

/** json_each fails on a text that is not JSON, and the order of conditions is not promised. */
function guarded(element: string, type: "array" | "object", empty: string): string {
  return `CASE ${element}.type WHEN '${type}' THEN ${element}.value ELSE '${empty}' END`;
}

function toRecord(value: unknown): JsonFilter {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
