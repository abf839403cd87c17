import { type Sql, sql } from "../../db/sql.ts";
import { type Condition, condition, joined } from "./condition.ts";
import {
  attributeProbe,
  entryGroup,
  type EntrySource,
  requiredAttributes,
  sourceOf,
} from "./entry-condition.ts";
import { type FieldName, fieldOf } from "./fields.ts";
import type { Filter, Predicate, Test } from "./filter-tree.ts";
import { opposite, testSql, untrue } from "./test-condition.ts";
import type { Leaf } from "../model/run-write.ts";

/**
 * The filter as a condition on the row `alias` of `runs`. Its logic has two values: not(x) holds
 * exactly where x does not. A comparison by gt, gte, lt, lte, in, like or search does not hold for
 * what is null, while neq and notlike do; eq and neq with null ask whether there is a value.
 *
 * Negations are carried down to the single tests, as SQL's NOT would leave null what is null.
 */
export function runCondition(filter: Filter, alias: string, negated = false): Condition {
  switch (filter.kind) {
    case "and":
      return joined(negated ? "OR" : "AND", conjuncts(filter.operands, alias, negated));
    case "or": {
      const parts = filter.operands.map((operand) => runCondition(operand, alias, negated));
      return joined(negated ? "AND" : "OR", parts);
    }
    case "not":
      return runCondition(filter.operand, alias, !negated);
    case "predicate":
      return fieldOf(filter.field).entry === undefined
        ? condition(columnSql(filter.field, filter.test, alias, negated))
        : entryGroup(alias, [filter], negated);
    case "words":
      return condition(wordsSql(filter.words, alias, negated));
    case "metadata":
      return condition(metadataSql(filter.leaves, alias, negated));
    case "metadata key":
      return condition(metadataKeySql(filter.key, alias, negated));
  }
}

/**
 * Queries for the ids of attributes; a run for which the filter holds has at least one of each. What
 * the filter says in another way than by naming attributes is left out.
 */
export function attributesOf(filter: Filter): Sql[] {
  switch (filter.kind) {
    case "and": {
      const groups = Map.groupBy(filter.operands, pairedFamily);
      return [...groups].flatMap(([family, members]) =>
        family === undefined
          ? members.flatMap(attributesOf)
          : required(members.filter(isPredicate)),
      );
    }
    case "predicate":
      return fieldOf(filter.field).entry === undefined ? [] : required([filter]);
    case "metadata":
      return filter.leaves.map(([key, value]) =>
        sql(
          "SELECT attribute_id FROM attributes WHERE kind = 'metadata' AND key = ? AND value = ?",
          key,
          value,
        ),
      );
    case "or":
    case "not":
    case "words":
    case "metadata key":
      return [];
  }
}

function required(predicates: readonly Predicate[]): Sql[] {
  const ids = requiredAttributes(predicates);
  return ids === null ? [] : [ids];
}

/** One condition per group of paired predicates, and one for each other operand. */
function conjuncts(operands: readonly Filter[], alias: string, negated: boolean): Condition[] {
  const groups = Map.groupBy(operands, pairedFamily);
  return [...groups].flatMap(([family, members]) =>
    family === undefined
      ? members.map((operand) => runCondition(operand, alias, negated))
      : [entryGroup(alias, members.filter(isPredicate), negated)],
  );
}

function pairedFamily(operand: Filter): string | undefined {
  const entry = isPredicate(operand) ? fieldOf(operand.field).entry : undefined;
  return entry?.paired === true ? entry.family : undefined;
}

function isPredicate(filter: Filter): filter is Predicate {
  return filter.kind === "predicate";
}

function columnSql(field: FieldName, test: Test, alias: string, negated: boolean): Sql {
  const tested = negated ? opposite(test) : test;
  if (tested === null) return untrue(columnSql(field, test, alias, false));
  const column =
    field === "latency" ? `(${alias}.end_time - ${alias}.start_time)` : `${alias}.${field}`;
  // Written out, because the index of failed runs is one of rows with this very condition.
  if (field === "status" && "value" in tested && tested.value === "error") {
    return sql(`${column} ${tested.op === "eq" ? "=" : "<>"} 'error'`);
  }
  return testSql(column, tested);
}

/** Whether each of the words, in any case, is a part of a text of the run; or that one is not. */
function wordsSql(words: readonly string[], alias: string, negated: boolean): Sql {
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

/** Whether all of these are among the run's metadata; or that one is not. */
function metadataSql(leaves: readonly Leaf[], alias: string, negated: boolean): Sql {
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
function metadataKeySql(key: string, alias: string, negated: boolean): Sql {
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
