import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { afterAll, describe, test } from "vitest";
import { parseAuthFilter } from "../../../src/agent-server/auth/parse-filter.ts";
import { metadataMatches } from "../../../src/db/json-filter-sql.ts";
import { matchesMetadata } from "../../../src/lib/metadata-filter.ts";

const db = new DatabaseSync(":memory:");
afterAll(() => db.close());

type Json = Record<string, unknown>;

function found(metadata: Json, filter: Json): boolean {
  const { text, params } = metadataMatches("row.metadata", parseAuthFilter(filter));
  const row = db
    .prepare(`SELECT ${text} AS found FROM (SELECT ? AS metadata) AS row`)
    .get(...params, JSON.stringify(metadata));
  return row?.["found"] === 1;
}

/** A naive definition of a filter in the form that handlers return. */
function naive(metadata: Json, filter: Json): boolean {
  return Object.entries(filter).every(([key, wanted]) => {
    if (key === "$or") return (wanted as Json[]).some((part) => naive(metadata, part));
    if (key === "$and") return (wanted as Json[]).every((part) => naive(metadata, part));
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    if (typeof wanted !== "object" || wanted === null) return value === wanted;
    return Object.entries(wanted).every(([operator, operand]) => {
      if (operator === "$eq") return value === operand;
      const elements: unknown[] = Array.isArray(operand) ? operand : [operand];
      return Array.isArray(value) && elements.every((element) => value.includes(element));
    });
  });
}

const CASES: [metadata: Json, filter: Json, matches: boolean][] = [
  [{}, {}, true],
  [{ owner: "a" }, {}, true],
  [{ owner: "a" }, { owner: "a" }, true],
  [{ owner: "a" }, { owner: { $eq: "a" } }, true],
  [{ owner: "a" }, { owner: "b" }, false],
  [{ owner: "A" }, { owner: "a" }, false],
  [{}, { owner: "a" }, false],
  [{ owner: null }, { owner: "null" }, false],
  [{ owner: "" }, { owner: "" }, true],
  [{}, { owner: "" }, false],
  [{ owner: "a" }, { owner: "" }, false],
  [{ owner: "a" }, { owner: { $eq: "" } }, false],
  [{ owner: "" }, { owner: { $contains: "" } }, false],
  [{ owner: [""] }, { owner: { $contains: "" } }, true],
  [{ owner: ["a"] }, { owner: { $contains: "" } }, false],
  [{ owner: ["a"] }, { owner: "a" }, false],
  [{ owner: "a" }, { owner: { $contains: "a" } }, false],
  [{ owner: "abc" }, { owner: { $contains: "b" } }, false],
  [{ groups: ["a", "b"] }, { groups: { $contains: ["b", "a"] } }, true],
  [{ groups: ["a", "b"] }, { groups: { $contains: ["b", "c"] } }, false],
  [{ groups: { 0: "a" } }, { groups: { $contains: "a" } }, false],
  [{ groups: [["a"]] }, { groups: { $contains: "a" } }, false],
  [{ level: 1 }, { level: 1 }, true],
  [{ level: "1" }, { level: 1 }, false],
  [{ level: 1 }, { level: "1" }, false],
  [{ level: 1 }, { level: true }, false],
  [{ level: true }, { level: 1 }, false],
  [{ level: true }, { level: true }, true],
  [{ level: [0.5, true] }, { level: { $contains: [true, 0.5] } }, true],
  [{ a: 1, b: 2 }, { a: 1, b: 3 }, false],
  [{ a: 1, b: 2 }, { $or: [{ a: 2 }, { b: 2 }] }, true],
  [{ a: 1, b: 2 }, { $or: [{ a: 2 }, { b: 1 }] }, false],
  [{ a: 1, b: 2 }, { $and: [{ a: 1 }, { b: 2 }] }, true],
  [{ a: 1, b: 2 }, { $and: [{ a: 1 }, { b: 1 }] }, false],
  [{ a: 1, b: 2 }, { a: 1, $or: [{ b: 3 }, { $and: [{ b: 2 }, { a: 1 }] }] }, true],
  [
    { "k\"'.$[0]": "'; DROP TABLE threads; --" },
    { "k\"'.$[0]": "'; DROP TABLE threads; --" },
    true,
  ],
  [{ list: "x" }, { list: "x" }, true],
  [{ constructor: "a" }, { constructor: "a" }, true],
  [{}, { constructor: { $contains: "a" } }, false],
  [{ owner: "not json" }, { owner: { $contains: "a" } }, false],
];

describe("a filter on metadata", () => {
  test.for(CASES)("gives for %j and %j: %s", ([metadata, filter, matches], { expect }) => {
    expect(naive(metadata, filter)).toBe(matches);
    expect(matchesMetadata(metadata, parseAuthFilter(filter))).toBe(matches);
    expect(found(metadata, filter)).toBe(matches);
  });

  const text = fc.oneof(
    fc.constantFrom("", "a", "b", "{", '"', "null"),
    fc.string({ unit: "grapheme", maxLength: 2 }).filter((value) => !value.includes("\0")),
  );
  const scalar = fc.oneof(text, fc.constantFrom(true, false, 0, 1, -2.5, 1e300));
  const key = fc.constantFrom("a", "b", "c.d", 'e"f', "'", "list");
  const metadata = fc.dictionary(
    key,
    fc.oneof(
      scalar,
      fc.constant(null),
      fc.array(fc.oneof(scalar, fc.constant(null), fc.array(scalar)), { maxLength: 4 }),
      fc.dictionary(key, scalar),
    ),
  );
  const condition = fc.oneof(
    scalar,
    scalar.map(($eq) => ({ $eq })),
    scalar.map(($contains) => ({ $contains })),
    fc.array(scalar, { minLength: 1, maxLength: 3 }).map(($contains) => ({ $contains })),
  );
  const { filter } = fc.letrec<{ filter: Json }>((tie) => {
    const parts = fc.array(tie("filter"), { minLength: 1, maxLength: 3 });
    return {
      filter: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.dictionary(key, condition, { maxKeys: 3 }),
        fc
          .tuple(fc.dictionary(key, condition, { maxKeys: 2 }), parts, fc.boolean())
          .map(([own, of, any]) => Object.assign(own, { [any ? "$or" : "$and"]: of })),
      ),
    };
  });

  test("means the same in the database, in memory and by its definition", ({ expect }) => {
    fc.assert(
      fc.property(metadata, filter, (metadata, filter) => {
        const expected = naive(metadata, filter);
        expect(matchesMetadata(metadata, parseAuthFilter(filter))).toBe(expected);
        expect(found(metadata, filter)).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });

  test("binds one parameter, and a maximum filter fits into a statement", ({ expect }) => {
    const teams = Array.from({ length: 100 }, (_, index) => ({ team: `t${index}` }));
    const { params, text } = metadataMatches("row.metadata", parseAuthFilter({ $or: teams }));
    expect(params).toHaveLength(1);
    expect(text.length).toBeLessThan(50_000);
    expect(found({ team: "t99" }, { $or: teams })).toBe(true);
    expect(found({ team: "t100" }, { $or: teams })).toBe(false);
  });
});
