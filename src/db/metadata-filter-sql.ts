import type { MetadataFilter } from "../lib/metadata-filter.ts";
import { allOf, anyOf, type Sql } from "./sql.ts";

/**
 * The condition that the JSON object `column` matches `filter`. It binds one parameter however large
 * the filter is, because a search may use up the others: keys and values are in a list there.
 */
export function metadataMatches(column: string, filter: MetadataFilter): Sql {
  const listed: (string | number | boolean)[] = [];
  const condition = toCondition(column, filter, listed);
  return {
    text: `(SELECT ${condition.text} FROM (SELECT ? AS list) AS wanted)`,
    params: [JSON.stringify(listed)],
  };
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
  // json_each fails on a text that is not JSON, and the order of conditions is not promised.
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
