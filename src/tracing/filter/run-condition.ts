import { type Sql, sql } from "../../db/sql.ts";
import { type Condition, condition, joined } from "./condition.ts";
import { entryGroup, requiredAttributes } from "./entry-condition.ts";
import { type FieldName, fieldOf } from "./fields.ts";
import type { Filter, Predicate, Test } from "./filter-tree.ts";
import { metadataKeySql, metadataSql } from "./metadata-condition.ts";
import { opposite, testSql, untrue } from "./test-condition.ts";
import { wordsSql } from "./words-condition.ts";

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
