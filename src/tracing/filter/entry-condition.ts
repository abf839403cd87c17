import { type Sql, sql } from "../../db/sql.ts";
import type { Leaf } from "../model/run-write.ts";
import {
  type Condition,
  condition,
  joinConditions,
  opposite,
  soughtText,
  testSql,
  untrue,
} from "./condition.ts";
import { type Family, fieldOf, type EntryMember } from "./fields.ts";
import type { Predicate, Test } from "./filter-tree.ts";

/**
 * Compiles predicates on entries, of which a run may have several: entries of metadata (key, value),
 * leaves of inputs and of outputs (key, value), feedback (key, score, value, source, comment, error) and
 * tags.
 *
 * The predicates of one family that are direct operands of the same and(...) form a group. Any other
 * predicate is a group of its own: an operand of or(...) or not(...), the whole filter, and always a
 * predicate on tags, inputs, outputs or metadata as a whole.
 *
 * The negative predicates are neq with a value, notlike, and eq with null. All others are positive,
 * including neq with null, which asks for a value.
 *
 * - A group with a positive predicate holds for a run with an entry for which all of its predicates hold,
 *   including the negative ones. So and(eq(key, k), neq(value, v)) means k with another value, and
 *   and(neq(key, k), eq(value, v)) means v under another key.
 * - A group of only negative predicates holds for a run without any entry that one of them excludes. So
 *   neq(key, k) means a run without k, and and(neq(key, k), neq(value, v)) means a run that has neither
 *   the key k nor the value v, even under another key.
 *
 * It follows that a single neq is the complement of eq, a single notlike is that of like, and the
 * negative predicates hold for a run without entries.
 */
export function entryGroup(
  alias: string,
  predicates: readonly Predicate[],
  negated: boolean,
): Condition {
  const tests = memberTests(predicates);
  const family = tests[0]?.family;
  if (family === undefined) throw new Error("a group has a predicate");
  if (tests.some(({ test }) => !isNegative(test))) {
    return condition(existsSql(alias, family, tests, negated));
  }
  const excluded = tests.map(({ member, test }) =>
    condition(existsSql(alias, family, [{ member, test: opposite(test) ?? test }], !negated)),
  );
  return joinConditions(negated ? "OR" : "AND", excluded);
}

function memberTests(predicates: readonly Predicate[]) {
  return predicates.map(({ field, test }) => {
    const { entry } = fieldOf(field);
    if (entry === undefined) throw new Error(`${field} is not a field of an entry`);
    return { family: entry.family, member: entry.member, test };
  });
}

type MemberTest = { member: EntryMember; test: Test };

/** `list` is the JSON of all entries. `from` ends within its WHERE clause: further conditions follow with AND. */
export type EntrySource = {
  list: string;
  from: string;
  columns: Partial<Record<EntryMember, string>>;
};

function isNegative(test: Test): boolean {
  return (
    test.op === "notlike" ||
    (test.op === "neq" && test.value !== null) ||
    (test.op === "eq" && test.value === null)
  );
}

/** Tests whether the run has an entry for which all of the tests hold; negated, that it has none. */
function existsSql(
  alias: string,
  family: Family,
  tests: readonly MemberTest[],
  negated: boolean,
): Sql {
  const pair = family === "metadata" ? namedPair(tests) : null;
  const found = pair === null ? null : pairSql(alias, pair);
  if (found !== null) return negated ? untrue(found) : found;
  const entry = searchSql(alias, family, tests) ?? generalSql(alias, family, tests);
  return { text: `${negated ? "NOT " : ""}EXISTS (${entry.text})`, params: entry.params };
}

/** Returns the pair, if the tests name exactly one by its key and its value. */
function namedPair(tests: readonly MemberTest[]): Leaf | null {
  if (tests.length !== 2) return null;
  const [key, value] = (["key", "value"] as const).map((member) => {
    const test = tests.find((each) => each.member === member)?.test;
    return test?.op === "eq" && typeof test.value === "string" ? test.value : null;
  });
  return typeof key === "string" && typeof value === "string" ? [key, value] : null;
}

/** The text between two strings of the list: as a key, it could be found where there is no such key. */
const SEPARATORS = new Set([",", "],["]);

/** Tests whether a pair is in the run's list by searching its JSON text; null if the list must be parsed. */
export function pairSql(alias: string, leaf: Leaf): Sql | null {
  if (SEPARATORS.has(leaf[0])) return null;
  return sql(`instr(ifnull(${alias}.metadata, ''), ?) > 0`, JSON.stringify(leaf));
}

/** Returns a search for a text, which need not parse most lists because their JSON does not contain the text. */
function searchSql(alias: string, family: Family, tests: readonly MemberTest[]): Sql | null {
  const [only] = tests;
  if (only === undefined || tests.length > 1 || family === "feedback") return null;
  const text = soughtText(only.test);
  // A text that JSON escapes cannot be found in the JSON.
  if (text === null || JSON.stringify(text) !== `"${text}"`) return null;
  const { list, columns } = sourceOf(alias, family);
  const has = (expression: string): string => `instr(lower(${expression}), sought.text) > 0`;
  return sql(
    `SELECT 1 FROM (SELECT ? AS text) AS sought CROSS JOIN json_each(${list}) AS leaf
     WHERE ${has(list)} AND ${has(columns[only.member] ?? "''")}`,
    text,
  );
}

function generalSql(alias: string, family: Family, tests: readonly MemberTest[]): Sql {
  const { from, columns } = sourceOf(alias, family);
  const conditions = tests.map(({ member, test }) => {
    const column = columns[member];
    if (column === undefined) throw new Error(`${family} has no ${member}`);
    return condition(testSql(column, test));
  });
  const all = joinConditions("AND", conditions);
  return { text: `SELECT 1 FROM ${from} AND ${all.text}`, params: all.params };
}

/** The column of `runs` that holds the JSON list of each family's entries. */
const LIST = { tag: "tags", metadata: "metadata", input: "input_leaves", output: "output_leaves" };

/** Returns the source of the entries of one run. */
export function sourceOf(alias: string, family: Family): EntrySource {
  if (family === "feedback") {
    return {
      list: "''",
      from: `feedback AS rating WHERE rating.run_id = ${alias}.id`,
      columns: {
        key: "rating.key",
        score: "rating.score",
        value: FEEDBACK_VALUE,
        source: "rating.source",
        comment: "rating.comment",
        error: "rating.error",
      },
    };
  }
  const list = `${alias}.${LIST[family]}`;
  return {
    list,
    from: `json_each(${list}) AS leaf WHERE true`,
    columns:
      family === "tag"
        ? { key: "leaf.value", value: "''" }
        : { key: "(leaf.value ->> 0)", value: "(leaf.value ->> 1)" },
  };
}

/** A string without its quotes, the JSON text of any other value, and null for JSON null. */
const FEEDBACK_VALUE = `(CASE json_type(rating.value)
  WHEN 'text' THEN rating.value ->> '$' WHEN 'null' THEN NULL ELSE rating.value END)`;
