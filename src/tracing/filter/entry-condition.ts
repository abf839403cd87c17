import { type Sql, sql } from "../../db/sql.ts";
import { PAYLOAD_NUMBER, PAYLOADS_PER_RUN } from "../model/run-row.ts";
import { type Condition, condition, joined } from "./condition.ts";
import { type Family, fieldOf, type Member } from "./fields.ts";
import type { Predicate, Test } from "./filter-tree.ts";
import { opposite, testSql } from "./test-condition.ts";

/**
 * Predicates on what a run may have several of: entries of metadata (key, value), leaves of inputs
 * and of outputs (key, value), feedback (key, score, value, source, comment, error) and tags.
 *
 * The predicates of one family that are direct operands of the same and(...) are a group; any other
 * predicate is a group of its own: an operand of or(...) or not(...), the whole filter, and always
 * one on tags, inputs, outputs or metadata as a whole.
 *
 * Negative are neq with a value, notlike, and eq with null; all others are positive, neq with null
 * among them, which asks for a value.
 *
 * - A group with a positive predicate holds for a run that has an entry for which all of its
 *   predicates hold, the negative ones too. So and(eq(key, k), neq(value, v)) is k with another
 *   value, and and(neq(key, k), eq(value, v)) is v under another key.
 * - A group of negative predicates alone holds for a run none of whose entries is what any of them
 *   excludes. So neq(key, k) is a run without k, and and(neq(key, k), neq(value, v)) is one that has
 *   neither the key k nor the value v, be it under another key.
 *
 * It follows that of single predicates neq is the complement of eq, and notlike that of like; and
 * that the negative ones hold for a run without entries.
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
  return joined(negated ? "OR" : "AND", excluded);
}

function memberTests(predicates: readonly Predicate[]) {
  return predicates.map(({ field, test }) => {
    const { entry } = fieldOf(field);
    if (entry === undefined) throw new Error(`${field} is not a field of an entry`);
    return { family: entry.family, member: entry.member, test };
  });
}

type MemberTest = { member: Member; test: Test };

/** `from` ends inside of its WHERE: further conditions follow by AND. */
export type EntrySource = { from: string; columns: Partial<Record<Member, string>> };

function isNegative(test: Test): boolean {
  return (
    test.op === "notlike" ||
    (test.op === "neq" && test.value !== null) ||
    (test.op === "eq" && test.value === null)
  );
}

/** Whether the run has an entry for which all of the tests hold; or that it has none. */
function existsSql(
  alias: string,
  family: Family,
  tests: readonly MemberTest[],
  negated: boolean,
): Sql {
  const entry = attributeSql(alias, family, tests) ?? generalSql(alias, family, tests);
  return { text: `${negated ? "NOT " : ""}EXISTS (${entry.text})`, params: entry.params };
}

/** Attributes by their key and value: found by index, and then a probe of each for each run. */
function attributeSql(alias: string, family: Family, tests: readonly MemberTest[]): Sql | null {
  const ids = attributeIds(family, tests);
  if (ids === null) return null;
  if (tests.every(({ test }) => test.op === "eq")) {
    return sql(
      `SELECT 1 FROM run_attributes AS pair
       WHERE pair.seq = ${alias}.seq AND pair.attribute_id = (${ids.text})`,
      ...ids.params,
    );
  }
  // With IN, SQLite would first make an index of all the runs that have one of the attributes.
  return sql(
    `SELECT 1 FROM (${ids.text}) AS named CROSS JOIN run_attributes AS pair
     ON pair.attribute_id = named.attribute_id AND pair.seq = ${alias}.seq`,
    ...ids.params,
  );
}

/** The ids of the few attributes that the tests name by key and value; null when they do not. */
function attributeIds(family: Family, tests: readonly MemberTest[]): Sql | null {
  if (family !== "tag" && family !== "metadata") return null;
  const members = new Set(tests.map(({ member }) => member));
  const isNamed = tests.every(
    ({ test }) => test.op === "in" || (test.op === "eq" && test.value !== null),
  );
  if (!isNamed || members.size !== tests.length) return null;
  if (members.size !== (family === "tag" ? 1 : 2)) return null;
  const conditions = tests.map(({ member, test }) => testSql(`attribute.${member}`, test));
  // A tag is a key; naming its value as well takes the whole index.
  if (family === "tag") conditions.push(sql("attribute.value = ''"));
  return sql(
    `SELECT attribute.attribute_id FROM attributes AS attribute
     WHERE attribute.kind = '${family}' AND ${conditions.map(({ text }) => text).join(" AND ")}`,
    ...conditions.flatMap(({ params }) => params),
  );
}

/** A query for attributes of which a run must have one to fulfil a group of predicates. */
export function requiredAttributes(predicates: readonly Predicate[]): Sql | null {
  const tests = memberTests(predicates);
  const family = tests[0]?.family;
  return family === undefined ? null : attributeIds(family, tests);
}

/** The subquery is empty for a run without the attribute; key and value are SQL expressions. */
export function attributeProbe(alias: string, kind: "tag" | "metadata", key: Sql, value: Sql): Sql {
  return sql(
    `SELECT 1 FROM run_attributes AS pair
     WHERE pair.seq = ${alias}.seq AND pair.attribute_id = (
       SELECT attribute.attribute_id FROM attributes AS attribute
       WHERE attribute.kind = '${kind}' AND attribute.key = ${key.text}
         AND attribute.value = ${value.text})`,
    ...key.params,
    ...value.params,
  );
}

function generalSql(alias: string, family: Family, tests: readonly MemberTest[]): Sql {
  const { from, columns } = sourceOf(alias, family);
  const conditions = tests.map(({ member, test }) => {
    const column = columns[member];
    if (column === undefined) throw new Error(`${family} has no ${member}`);
    return condition(testSql(column, test));
  });
  const all = joined("AND", conditions);
  return { text: `SELECT 1 FROM ${from} AND ${all.text}`, params: all.params };
}

/** The entries of one run. CROSS JOIN keeps SQLite from going over all attributes for each run. */
export function sourceOf(alias: string, family: Family): EntrySource {
  switch (family) {
    case "metadata":
    case "tag":
      return {
        from: `json_each(${alias}.attribute_ids) AS pair CROSS JOIN attributes AS attribute
          ON attribute.attribute_id = pair.value WHERE attribute.kind = '${family}'`,
        columns: { key: "attribute.key", value: "attribute.value" },
      };
    case "input":
    case "output": {
      const number = family === "input" ? PAYLOAD_NUMBER.inputLeaves : PAYLOAD_NUMBER.outputLeaves;
      return {
        from: `payloads AS payload CROSS JOIN json_each(payload.body) AS leaf
          WHERE payload.key = ${alias}.seq * ${PAYLOADS_PER_RUN} + ${number}`,
        columns: { key: "(leaf.value ->> 0)", value: "(leaf.value ->> 1)" },
      };
    }
    case "feedback":
      return {
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
}

/** A text without its quotes, and the JSON text of anything else; null for JSON's null. */
const FEEDBACK_VALUE = `(CASE json_type(rating.value)
  WHEN 'text' THEN rating.value ->> '$' WHEN 'null' THEN NULL ELSE rating.value END)`;
