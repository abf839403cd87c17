import { isAmong, type Sql, sql } from "../../db/sql.ts";
import type { Test, Value } from "./filter-tree.ts";
import {
  type LikePattern,
  longLikeSql,
  lowerAscii,
  MAX_LIKE_BYTES,
  parseLike,
  type LikePiece,
  sqlitePattern,
  utf8Bytes,
} from "./like-pattern.ts";

/** True for the rows that match; false or null for the others. `depth` counts ANDs and ORs. */
export type Condition = Sql & { depth: number };

export function condition({ text, params }: Sql): Condition {
  return { text, params, depth: 0 };
}

/**
 * SQLite limits the depth of expressions, so that the shallowest parts are joined first: what is
 * nested already then gets only one level deeper. At least one condition.
 */
export function joinConditions(
  operator: "AND" | "OR",
  conditions: readonly Condition[],
): Condition {
  let open = conditions.toSorted(byDepth);
  for (;;) {
    const [first, second, ...rest] = open;
    if (first === undefined) throw new Error("nothing to join");
    if (second === undefined) return first;
    const pair = {
      text: `(${first.text} ${operator} ${second.text})`,
      params: [...first.params, ...second.params],
      depth: Math.max(first.depth, second.depth) + 1,
    };
    open = [...rest, pair].toSorted(byDepth);
  }
}

function byDepth(a: Condition, b: Condition): number {
  return a.depth - b.depth;
}

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
      return isAmong(expression, test.values);
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

/** Whether the text, in any case, is a part of that of `expression`; null for null. */
function containsSql(expression: string, text: string): Sql {
  return sql(`instr(lower(${expression}), ?) > 0`, lowerAscii(text));
}

/** See parseLike. Null or false for null. The time it takes is linear in the length of the text. */
function likeSql(expression: string, pattern: string): Sql {
  const parsed = parseLike(pattern);
  const literal = innerLiteral(parsed);
  if (literal !== null) return containsSql(expression, literal);
  const text = parsed.pieces.map(sqlitePattern).join("%");
  return utf8Bytes(text) <= MAX_LIKE_BYTES
    ? sql(`${expression} LIKE ? ESCAPE '\\'`, text)
    : longLikeSql(expression, parsed);
}

/** The text, in lower case, that `testSql` looks for in what is tested; null when it is another test. */
export function soughtText(test: Test): string | null {
  if (test.op === "contains") return lowerAscii(test.text);
  const literal = test.op === "like" ? innerLiteral(parseLike(test.pattern)) : null;
  return literal === null ? null : lowerAscii(literal);
}

/** Whether a pattern is one that SQLite's own functions cannot match. */
export function isLongLike(pattern: string): boolean {
  const parsed = parseLike(pattern);
  const text = parsed.pieces.map(sqlitePattern).join("%");
  return innerLiteral(parsed) === null && utf8Bytes(text) > MAX_LIKE_BYTES;
}

/** The literal of a pattern that is one between two `%`; else null. */
function innerLiteral({ pieces }: LikePattern): string | null {
  const [before, inner, after, ...others] = pieces;
  if (before?.length !== 0 || after?.length !== 0 || others.length > 0) return null;
  const literal = inner === undefined ? null : toLiteral(inner);
  return literal === "" ? null : literal;
}

function toLiteral(piece: LikePiece): string | null {
  return piece.includes(null) ? null : piece.join("");
}
