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

/** An SQL condition, true for rows that match, false or null for others. `depth` counts nested ANDs and ORs. */
export type Condition = Sql & { depth: number };

export function condition({ text, params }: Sql): Condition {
  return { text, params, depth: 0 };
}

/**
 * Joins conditions, of which there must be at least one. SQLite limits the depth of expressions, so the
 * shallowest conditions are joined first: those already nested then get only one level deeper.
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

/** Returns the test that holds exactly where this one does not, also for null; null if no single test does. */
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

/** Returns the SQL that applies a test to an expression. A result of null counts as false. */
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

/** Returns SQL that is true where the given SQL is false or null. */
export function untrue({ text, params }: Sql): Sql {
  return { text: `(${text}) IS NOT TRUE`, params };
}

function equal(expression: string, operator: "=" | "IS NOT", value: Value): Sql {
  return sql(`${expression} ${operator} ?`, value);
}

/** Tests whether `expression` contains the text, ignoring the case of ASCII letters; null for null. */
function containsSql(expression: string, text: string): Sql {
  return sql(`instr(lower(${expression}), ?) > 0`, lowerAscii(text));
}

/** Tests a pattern, see parseLike; null or false for null. It takes time linear in the length of the text. */
function likeSql(expression: string, pattern: string): Sql {
  const parsed = parseLike(pattern);
  const literal = innerLiteral(parsed);
  if (literal !== null) return containsSql(expression, literal);
  const text = parsed.pieces.map(sqlitePattern).join("%");
  return utf8Bytes(text) <= MAX_LIKE_BYTES
    ? sql(`${expression} LIKE ? ESCAPE '\\'`, text)
    : longLikeSql(expression, parsed);
}

/** Returns the lower-case text that `testSql` searches for in a value; null for any other kind of test. */
export function soughtText(test: Test): string | null {
  if (test.op === "contains") return lowerAscii(test.text);
  const literal = test.op === "like" ? innerLiteral(parseLike(test.pattern)) : null;
  return literal === null ? null : lowerAscii(literal);
}

/** Returns whether a pattern is too long for SQLite's own LIKE. */
export function isLongLike(pattern: string): boolean {
  const parsed = parseLike(pattern);
  const text = parsed.pieces.map(sqlitePattern).join("%");
  return innerLiteral(parsed) === null && utf8Bytes(text) > MAX_LIKE_BYTES;
}

/** Returns the literal of a pattern that is a single literal between two `%`; otherwise null. */
function innerLiteral({ pieces }: LikePattern): string | null {
  const [before, inner, after, ...others] = pieces;
  if (before?.length !== 0 || after?.length !== 0 || others.length > 0) return null;
  const literal = inner === undefined ? null : toLiteral(inner);
  return literal === "" ? null : literal;
}

function toLiteral(piece: LikePiece): string | null {
  return piece.includes(null) ? null : piece.join("");
}
