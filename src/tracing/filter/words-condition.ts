import { type Sql, sql } from "../../db/sql.ts";
import { type EntrySource, sourceOf } from "./entry-condition.ts";

/** Whether each of the words, in any case, is a part of a text of the run; or that one is not. */
export function wordsSql(words: readonly string[], alias: string, negated: boolean): Sql {
  const tag = sourceOf(alias, "tag");
  const metadata = sourceOf(alias, "metadata");
  const absent = [
    `NOT ${hasWord(`${alias}.name`)}`,
    `NOT ${hasWord(`ifnull(${alias}.error, '')`)}`,
    `NOT EXISTS (SELECT 1 FROM ${tag.from} AND ${hasWord(tag.columns.key)})`,
    `NOT EXISTS (SELECT 1 FROM ${metadata.from} AND ${hasWord(metadata.columns.value)})`,
    noLeafHasWord(sourceOf(alias, "input")),
    noLeafHasWord(sourceOf(alias, "output")),
  ];
  return sql(
    `${negated ? "" : "NOT "}EXISTS (
       SELECT 1 FROM json_each(?) AS word WHERE ${absent.join(" AND ")})`,
    JSON.stringify(words),
  );
}

/** JSON.stringify writes letters and digits as they are, so most runs need no look at each leaf. */
function noLeafHasWord(leaf: EntrySource): string {
  const { from, columns } = leaf;
  return `NOT EXISTS (
    SELECT 1 FROM ${from} AND ${hasWord("payload.body")} AND ${hasWord(columns.value)})`;
}

function hasWord(text: string | undefined): string {
  return `(instr(lower(${text}), word.value) > 0)`;
}
