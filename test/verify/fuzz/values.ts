import fc from "fast-check";
import { type ApiDocument, resolved, type Schema } from "./document.ts";

/** Limit for schemas that refer to themselves; no body of the API needs more. */
const MAX_DEPTH = 5;

/** Existing ids, by the name of the parameter or member that takes them. */
export type KnownIds = ReadonlyMap<string, readonly string[]>;

const HOSTILE_TEXTS = [
  "",
  " ",
  "\0",
  "\u{d800}",
  "../../etc/passwd",
  "%00",
  "%2e%2e%2f",
  "'; DROP TABLE threads; --",
  "null",
  "__proto__",
  "constructor",
  "{{7*7}}",
  "x".repeat(5000),
  "😀".repeat(300),
  "1e999",
  "-0",
  "2026-02-30T25:61:61Z",
  "+292278994-08-17T07:12:55Z",
  'and(eq(name, "a"), like(name, "%a_%b_%"))',
];

/** Values that no schema describes. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1e308, -1e-320, 2 ** 53, [], {}, [[]], [null]),
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant(JSON.parse('{"__proto__": {"$eq": 1}, "constructor": {"prototype": 1}}')),
);

/**
 * Generates values that a schema describes, except that about one value in thirty is something else. Members that are
 * named like a known id are such an id half of the time.
 */
export class SchemaValues {
  readonly #document: ApiDocument;
  readonly #ids: KnownIds;

  constructor(document: ApiDocument, ids: KnownIds) {
    this.#document = document;
    this.#ids = ids;
  }

  of(schema: Schema, name = "", depth = 0): fc.Arbitrary<unknown> {
    const fitting = this.#fitting(resolved(this.#document, schema), name, depth);
    return fc.oneof({ weight: 30, arbitrary: fitting }, { weight: 1, arbitrary: hostile });
  }

  #fitting(schema: Schema, name: string, depth: number): fc.Arbitrary<unknown> {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) {
      return fc.oneof(...choices.map((choice) => this.of(choice, name, depth)));
    }
    if (schema.allOf !== undefined) return this.#all(schema.allOf, name, depth);
    const types = [schema.type ?? "any"].flat();
    return fc.oneof(...types.map((type) => this.#ofType(type, schema, name, depth)));
  }

  #ofType(type: string, schema: Schema, name: string, depth: number): fc.Arbitrary<unknown> {
    switch (type) {
      case "null":
        return fc.constant(null);
      case "boolean":
        return fc.boolean();
      case "integer":
        return integerOf(schema);
      case "number":
        return fc.oneof(integerOf(schema), fc.double({ noNaN: true, noDefaultInfinity: true }));
      case "string":
        return this.#text(schema, name);
      case "array":
        return this.#array(schema, name, depth);
      case "object":
        return this.#object(schema, depth);
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  #text({ format, maxLength = 60 }: Schema, name: string): fc.Arbitrary<string> {
    const known = this.#ids.get(name) ?? [];
    const plain =
      format === "uuid"
        ? fc.uuid()
        : format === "date-time"
          ? fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
          : format === "uri" || name.endsWith("url")
            ? // Nothing listens at this address; no other host may get requests.
              fc.constant("http://127.0.0.1:1/x")
            : fc.string({ unit: "grapheme", maxLength: Math.min(maxLength, 60) });
    return known.length === 0 ? plain : fc.oneof(plain, fc.constantFrom(...known));
  }

  #array({ items = {}, maxItems = 4 }: Schema, name: string, depth: number): fc.Arbitrary<unknown> {
    if (depth >= MAX_DEPTH) return fc.constant([]);
    return fc.array(this.of(items, name, depth + 1), { maxLength: Math.min(maxItems, 4) });
  }

  #object(schema: Schema, depth: number): fc.Arbitrary<Record<string, unknown>> {
    if (depth >= MAX_DEPTH) return fc.constant({});
    const { properties = {}, required = [], additionalProperties } = schema;
    const members = Object.entries(properties).map(
      ([name, member]) => [name, this.of(member, name, depth + 1)] as const,
    );
    const needed = required.filter((name) => name in properties);
    const declared = fc.record(Object.fromEntries(members), { requiredKeys: needed });
    const rest =
      typeof additionalProperties === "object"
        ? this.of(additionalProperties, "", depth + 1)
        : hostile;
    const isOpen = members.length === 0 || typeof additionalProperties === "object";
    const more = fc.dictionary(fc.string({ unit: "grapheme", maxLength: 12 }), rest, {
      maxKeys: isOpen ? 3 : 1,
    });
    return fc.oneof(
      { weight: isOpen ? 1 : 9, arbitrary: declared },
      { weight: 1, arbitrary: fc.tuple(more, declared).map(([a, b]) => Object.assign(a, b)) },
    );
  }

  #all(schemas: Schema[], name: string, depth: number): fc.Arbitrary<unknown> {
    const parts = schemas.map((schema) =>
      this.#fitting(resolved(this.#document, schema), name, depth),
    );
    return fc.tuple(...parts).map((values) => Object.assign({}, ...values));
  }
}

function integerOf({ minimum = -10, maximum = 1_000_000 }: Schema): fc.Arbitrary<number> {
  const min = Math.ceil(minimum);
  const max = Math.max(min, Math.min(Math.floor(maximum), min + 20));
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(minimum, maximum));
}
