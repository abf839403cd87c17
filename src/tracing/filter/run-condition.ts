import { type Sql, sql } from "../../db/sql.ts";
import {
  type Condition,
  condition,
  joinConditions,
  opposite,
  testSql,
  untrue,
} from "./condition.ts";
import { entryGroup, type EntrySource, pairSql, sourceOf } from "./entry-condition.ts";
import { type FieldName, fieldOf } from "./fields.ts";
import type { Filter, Predicate, Test } from "./filter-tree.ts";
import type { Leaf } from "../model/run-write.ts";

/**
 * Compiles the filter to a condition on the row `alias` of `runs`. Its logic is two-valued: not(x) holds
 * exactly where x does not. A comparison by gt, gte, lt, lte, in, like or search does not hold for null,
 * whereas neq and notlike do; eq and neq with null ask whether there is a value.
 *
 * Negations are moved down to the single tests, because the NOT of SQL leaves null as null.
 */
export function runCondition(filter: Filter, alias: string, negated = false): Condition {
  switch (filter.kind) {
    case "and":
      return joinConditions(negated ? "OR" : "AND", conjuncts(filter.operands, alias, negated));
    case "or": {
      const parts = filter.operands.map((operand) => runCondition(operand, alias, negated));
      return joinConditions(negated ? "AND" : "OR", parts);
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

/** Returns one condition per group of paired predicates, and one for each other operand. */
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
  return testSql(column, tested);
}

/** Tests whether each of the words occurs in a text of the run, in any case; negated, that one does not. */
function wordsSql(words: readonly string[], alias: string, negated: boolean): Sql {
  const absent = [
    `NOT ${hasWord(`${alias}.name`)}`,
    `NOT ${hasWord(`ifnull(${alias}.error, '')`)}`,
    noneHasWord(sourceOf(alias, "tag"), "key"),
    noneHasWord(sourceOf(alias, "metadata"), "value"),
    noneHasWord(sourceOf(alias, "input"), "value"),
    noneHasWord(sourceOf(alias, "output"), "value"),
  ];
  return sql(
    `${negated ? "" : "NOT "}EXISTS (
       SELECT 1 FROM json_each(?) AS word WHERE ${absent.join(" AND ")})`,
    JSON.stringify(words),
  );
}

/** JSON.stringify does not escape letters and digits, so the entries of most runs need not be searched one by one. */
function noneHasWord({ list, from, columns }: EntrySource, member: "key" | "value"): string {
  return `NOT EXISTS (
    SELECT 1 FROM ${from} AND ${hasWord(list)} AND ${hasWord(columns[member])})`;
}

function hasWord(text: string | undefined): string {
  return `(instr(lower(${text}), word.value) > 0)`;
}

/** Tests whether all of these pairs are in the run's metadata; negated, that one is missing. */
function metadataSql(leaves: readonly Leaf[], alias: string, negated: boolean): Sql {
  const pairs = leaves.map((leaf) => pairSql(alias, leaf));
  const [first] = pairs;
  if (first && pairs.length === 1) return negated ? untrue(first) : first;
  const { from, columns } = sourceOf(alias, "metadata");
  const [key, value] = [`(wanted.value ->> 0)`, `(wanted.value ->> 1)`];
  const missing = sql(
    `SELECT 1 FROM json_each(?) AS wanted WHERE NOT EXISTS (
       SELECT 1 FROM ${from} AND ${columns.key} = ${key} AND ${columns.value} = ${value})`,
    JSON.stringify(leaves),
  );
  return exists(missing, !negated);
}

/** Tests whether the run has this metadata key or, if its value is an object, a key below it. */
function metadataKeySql(key: string, alias: string, negated: boolean): Sql {
  const { from, columns } = sourceOf(alias, "metadata");
  return exists(
    sql(
      `SELECT 1 FROM ${from} AND (${columns.key} = ? OR instr(${columns.key}, ?) = 1)`,
      key,
      `${key}.`,
    ),
    negated,
  );
}

function exists({ text, params }: Sql, negated: boolean): Sql {
  return { text: `${negated ? "NOT " : ""}EXISTS (${text})`, params };
}
