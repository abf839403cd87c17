import { allOf, anyOf, type Sql, sql } from "./sql.ts";
import type { MetadataFilter, Visibility } from "../lib/metadata-filter.ts";

/**
 * D1 binds at most 100 parameters to a statement, which must suffice for two filters and the rest of the query.
 */
export const MAX_FILTER_SIZE = 40;

/** D1 limits the depth of an expression to 100, and each level of a filter takes about 13. */
export const MAX_FILTER_DEPTH = 5;

export type JsonFilter = Record<string, unknown>;

/**
 * Returns the condition that the JSON object `column` contains `filter`, as Postgres' `@>` does: each key of the
 * filter exists and its value is contained, and each element of a filter's array is contained in some element.
 * Keys and values are bound parameters, so any text is safe.
 */
export function containsJson(column: string, filter: JsonFilter): Sql {
  return containsObject(column, filter, 0);
}

/** Returns the number of keys and values of a filter, at least as many as `containsJson` binds, and its depth. */
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

/** Returns the condition that `element`, a row of json_each, contains `filter`. */
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

/**
 * json_each fails on text that is not JSON, and SQLite does not guarantee the order in which conditions are
 * evaluated.
 */
function guarded(element: string, type: "array" | "object", empty: string): string {
  return `CASE ${element}.type WHEN '${type}' THEN ${element}.value ELSE '${empty}' END`;
}

function toRecord(value: unknown): JsonFilter {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/**
 * Returns the condition that the JSON object `column` matches `filter`. It binds a single parameter, a list of all
 * keys and values, because a search may need all other parameters.
 */
export function metadataMatches(column: string, filter: MetadataFilter): Sql {
  const listed: (string | number | boolean)[] = [];
  const condition = toCondition(column, filter, listed);
  return {
    text: `(SELECT ${condition.text} FROM (SELECT ? AS list) AS wanted)`,
    params: [JSON.stringify(listed)],
  };
}

/** Returns the condition that the caller may see a row with a column `metadata`; none if every row is visible. */
export function visibleTo(access: Visibility): Sql[] {
  return access === null ? [] : [metadataMatches("metadata", access)];
}

function toCondition(
  column: string,
  filter: MetadataFilter,
  listed: (string | number | boolean)[],
): Sql {
  if (filter.op === "all") return allOf(filter.of.map((part) => toCondition(column, part, listed)));
  if (filter.op === "any") return anyOf(filter.of.map((part) => toCondition(column, part, listed)));
  const key = listed.push(filter.key) - 1;
  const value = listed.push(filter.value) - 1;
  const entry = `FROM json_each(${column}) AS entry WHERE entry.key = ${wanted(key)}`;
  if (filter.op === "equals") {
    return {
      text: `EXISTS (SELECT 1 ${entry} AND ${isValue("entry", filter.value, value)})`,
      params: [],
    };
  }
  // json_each fails on text that is not JSON, and SQLite does not guarantee the order of evaluation.
  const elements = `json_each(CASE entry.type WHEN 'array' THEN entry.value ELSE '[]' END)`;
  const element = `SELECT 1 FROM ${elements} AS element WHERE ${isValue("element", filter.value, value)}`;
  return { text: `EXISTS (SELECT 1 ${entry} AND EXISTS (${element}))`, params: [] };
}

function isValue(row: string, value: string | number | boolean, index: number): string {
  if (typeof value === "boolean") return `${row}.type = '${String(value)}'`;
  const types = typeof value === "number" ? "'integer', 'real'" : "'text'";
  return `${row}.type IN (${types}) AND ${row}.value = ${wanted(index)}`;
}

function wanted(index: number): string {
  return `json_extract(wanted.list, '$[${index}]')`;
}
