import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { afterAll, describe, test } from "vitest";
import { containsJson, filterSize, type JsonFilter } from "../../../src/db/json-filter-sql.ts";

const db = new DatabaseSync(":memory:");
afterAll(() => db.close());

function contains(json: unknown, filter: JsonFilter): boolean {
  const { text, params } = containsJson("row.json", filter);
  const row = db
    .prepare(`SELECT ${text} AS found FROM (SELECT ? AS json) AS row`)
    .get(...params, JSON.stringify(json));
  return row?.["found"] === 1;
}

/** A naive definition of Postgres' `@>`. */
function naive(json: unknown, filter: unknown): boolean {
  if (Array.isArray(filter)) {
    return (
      Array.isArray(json) && filter.every((part) => json.some((element) => naive(element, part)))
    );
  }
  if (typeof filter === "object" && filter !== null) {
    if (typeof json !== "object" || json === null || Array.isArray(json)) return false;
    return Object.entries(filter).every(
      ([key, value]) => Object.hasOwn(json, key) && naive(Reflect.get(json, key), value),
    );
  }
  return json === filter;
}

describe("containsJson", () => {
  test.for([
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: 1 }, { a: "1" }, false],
    [{ a: "1" }, { a: 1 }, false],
    [{ a: true }, { a: 1 }, false],
    [{ a: 1 }, { a: true }, false],
    [{ a: 1.5 }, { a: 1.5 }, true],
    [{ a: 1e300 }, { a: 1e300 }, true],
    [{ a: null }, { a: null }, true],
    [{}, { a: null }, false],
    [{ a: "null" }, { a: null }, false],
    [{ a: {} }, { a: {} }, true],
    [{ a: [] }, { a: {} }, false],
    [{ a: { b: 1 } }, { a: {} }, true],
    [{ a: [1, 2, 3] }, { a: [3, 1] }, true],
    [{ a: [1, 2] }, { a: [1, 1, 1] }, true],
    [{ a: [1] }, { a: [1, 2] }, false],
    [{ a: [1] }, { a: 1 }, false],
    [{ a: ["x"] }, { a: [] }, true],
    [{ a: [{ b: 1, c: 2 }, { b: 2 }] }, { a: [{ b: 2 }, { c: 2 }] }, true],
    [{ a: [[1, 2], [3]] }, { a: [[2], [3]] }, true],
    [{ a: "not json" }, { a: { b: 1 } }, false],
    [{ a: "{" }, { a: [1] }, false],
    [{ "k\"'.$[0]": 1 }, { "k\"'.$[0]": 1 }, true],
    [{ "": 1 }, { "": 1 }, true],
    [{ a: "'; DROP TABLE threads; --" }, { a: "'; DROP TABLE threads; --" }, true],
    [{ a: "Ü" }, { a: "ü" }, false],
    [["a"], { 0: "a" }, false],
  ] as const)("%j @> %j is %s", ([json, filter, expected], { expect }) => {
    expect(contains(json, filter)).toBe(expected);
    expect(naive(json, filter)).toBe(expected);
  });

  const scalar = fc.oneof(
    fc.constantFrom<unknown>(null, true, false, 0, 1, -2.5, "", "a", "{", '"'),
    fc.string({ unit: "grapheme", maxLength: 3 }).filter((text) => !text.includes("\0")),
  );
  const key = fc.constantFrom("a", "b", "c.d", 'e"f', "$", "__x");
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3 }),
    ),
  }));
  const object = fc.dictionary(key, value, { maxKeys: 4 });

  test("agrees with the definition on any two objects", ({ expect }) => {
    fc.assert(
      fc.property(object, object, (json, filter) => {
        expect(contains(json, filter)).toBe(naive(json, filter));
      }),
      { numRuns: 500 },
    );
  });

  test("finds any part of an object in it", ({ expect }) => {
    const whole = fc.dictionary(key, value, { minKeys: 1, maxKeys: 4 });
    fc.assert(
      fc.property(whole, fc.nat(), (json, pick) => {
        const entries = Object.entries(json);
        const part = Object.fromEntries(entries.slice(pick % entries.length));
        expect(contains(json, part)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("binds no more parameters than the filter's size", ({ expect }) => {
    fc.assert(
      fc.property(object, (filter) => {
        const { params } = containsJson("json", filter);
        expect(params.length).toBeLessThanOrEqual(filterSize(filter).size);
      }),
    );
  });
});
