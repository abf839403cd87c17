import { type Sql, sql } from "../../db/sql.ts";
import type { Leaf } from "../model/run-write.ts";
import { attributeProbe, sourceOf } from "./entry-condition.ts";

/** Whether all of these are among the run's metadata; or that one is not. */
export function metadataSql(leaves: readonly Leaf[], alias: string, negated: boolean): Sql {
  const [first, second] = leaves;
  if (first !== undefined && second === undefined) {
    const [key, value] = first;
    return exists(attributeProbe(alias, "metadata", sql("?", key), sql("?", value)), negated);
  }
  const found = attributeProbe(
    alias,
    "metadata",
    sql("(wanted.value ->> 0)"),
    sql("(wanted.value ->> 1)"),
  );
  const missing = sql(
    `SELECT 1 FROM json_each(?) AS wanted WHERE NOT EXISTS (${found.text})`,
    JSON.stringify(leaves),
  );
  return exists(missing, !negated);
}

/** Whether the run has this metadata key or, when its value is an object, one below it. */
export function metadataKeySql(key: string, alias: string, negated: boolean): Sql {
  const { from } = sourceOf(alias, "metadata");
  return exists(
    sql(
      `SELECT 1 FROM ${from} AND (attribute.key = ? OR instr(attribute.key, ?) = 1)`,
      key,
      `${key}.`,
    ),
    negated,
  );
}

function exists({ text, params }: Sql, negated: boolean): Sql {
  return { text: `${negated ? "NOT " : ""}EXISTS (${text})`, params };
}
