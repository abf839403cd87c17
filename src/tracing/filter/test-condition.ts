import { type Sql, sql } from "../../db/sql.ts";
import type { Test, Value } from "./filter-tree.ts";
import { containsSql, likeSql } from "./text-condition.ts";

const OPERATORS = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** What holds exactly where the test does not, also for null, if a single test can say it. */
export function opposite(test: Test): Test | null {
  switch (test.op) {
    case "eq":
      return { ...test, op: "neq" };
    case "neq":
      return { ...test, op: "eq" };
    case "like":
      return { ...test, op: "notlike" };
    case "notlike":
      return { ...test, op: "like" };
    default:
      return null;
  }
}

/** The test of an SQL expression. Null counts as false. */
export function testSql(expression: string, test: Test): Sql {
  switch (test.op) {
    case "eq":
      return test.value === null
        ? sql(`${expression} IS NULL`)
        : equal(expression, "=", test.value);
    case "neq":
      return test.value === null
        ? sql(`${expression} IS NOT NULL`)
        : equal(expression, "IS NOT", test.value);
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return sql(`${expression} ${OPERATORS[test.op]} ?`, test.value);
    case "in":
      return sql(`${expression} IN (SELECT value FROM json_each(?))`, JSON.stringify(test.values));
    case "like":
      return likeSql(expression, test.pattern);
    case "notlike":
      return untrue(likeSql(expression, test.pattern));
    case "contains":
      return containsSql(expression, test.text);
  }
}

/** True for false and for null. */
export function untrue({ text, params }: Sql): Sql {
  return { text: `(${text}) IS NOT TRUE`, params };
}

function equal(expression: string, operator: "=" | "IS NOT", value: Value): Sql {
  return sql(`${expression} ${operator} ?`, value);
}
