import { z } from "@hono/zod-openapi";
import { describe, test } from "vitest";
import { parseKnown } from "../../../src/lib/unknown-members.ts";

const send = z.strictObject({ node: z.string(), input: z.unknown() });

const schema = z.strictObject({
  name: z.string().optional(),
  nested: z
    .strictObject({ deep: z.strictObject({ n: z.number().optional() }).optional() })
    .nullish(),
  items: z.array(z.strictObject({ id: z.number().transform((id) => id * 2) })).optional(),
  goto: z.union([z.string(), send, z.array(z.union([z.string(), send]))]).nullish(),
  free: z.record(z.string(), z.unknown()).optional(),
  by: z.record(z.string(), z.strictObject({ n: z.number() })).optional(),
});

function parsed(input: unknown) {
  const { success, data, ignored } = parseKnown(schema, input);
  return { success, data, ignored };
}

describe("parseKnown", () => {
  test("changes nothing if all members are known", ({ expect }) => {
    const input = { name: "a", free: { any: { thing: 1 } } };
    const { data, ignored } = parsed(input);
    expect([data, ignored]).toEqual([input, []]);
    expect((data as typeof input).free.any).toBe(input.free.any);
  });

  test("parses once if all members are known, and twice otherwise", ({ expect }) => {
    let parses = 0;
    const counting = z.strictObject({ a: z.string().transform((text) => text + (parses += 1)) });
    expect(parseKnown(counting, { a: "x" }).data).toEqual({ a: "x1" });
    expect(parseKnown(counting, { a: "x", b: 1 }).success).toBe(true);
    expect(parses).toBe(3);
  });

  test.for<[what: string, input: object, data: object, ignored: object[]]>([
    ["an object", { name: "a", b: 1, c: 2 }, { name: "a" }, [{ path: [], keys: ["b", "c"] }]],
    [
      "a nested object",
      { nested: { deep: { n: 1, x: 2 }, y: 3 } },
      { nested: { deep: { n: 1 } } },
      [
        { path: ["nested", "deep"], keys: ["x"] },
        { path: ["nested"], keys: ["y"] },
      ],
    ],
    [
      "the items of a list",
      { items: [{ id: 1, a: 1 }, { id: 2 }, { id: 3, b: 1 }] },
      { items: [{ id: 2 }, { id: 4 }, { id: 6 }] },
      [
        { path: ["items", 0], keys: ["a"] },
        { path: ["items", 2], keys: ["b"] },
      ],
    ],
    [
      "the values of a record",
      { by: { a: { n: 1, x: 1 } } },
      { by: { a: { n: 1 } } },
      [{ path: ["by", "a"], keys: ["x"] }],
    ],
    [
      "a branch of a union",
      { goto: { node: "a", input: 1, x: 1 } },
      { goto: { node: "a", input: 1 } },
      [{ path: ["goto"], keys: ["x"] }],
    ],
    [
      "a union in a list in a union",
      { goto: ["b", { node: "a", input: 1, x: 1 }], y: 1 },
      { goto: ["b", { node: "a", input: 1 }] },
      [
        { path: ["goto", 1], keys: ["x"] },
        { path: [], keys: ["y"] },
      ],
    ],
  ])("removes unknown members of %s", ([, input, data, ignored], { expect }) => {
    const before = structuredClone(input);
    expect(parsed(input)).toEqual({ success: true, data, ignored });
    expect(input).toEqual(before);
  });

  test("chooses the branch that knows the most members", ({ expect }) => {
    const less = z.strictObject({ a: z.number() });
    const more = z.strictObject({ a: z.number(), b: z.number() });
    for (const union of [z.union([less, more]), z.union([more, less])]) {
      expect(parseKnown(union, { a: 1, b: 2, c: 3 })).toMatchObject({
        data: { a: 1, b: 2 },
        ignored: [{ path: [], keys: ["c"] }],
      });
      const nested = z.union([z.string(), z.array(union)]);
      expect(parseKnown(nested, [{ a: 1, b: 2, c: 3 }])).toMatchObject({
        data: [{ a: 1, b: 2 }],
        ignored: [{ path: [0], keys: ["c"] }],
      });
    }
  });

  test("keeps other errors, and lists the ignored members", ({ expect }) => {
    const { success, error, ignored } = parseKnown(schema, { name: 7, b: 1, goto: { node: 7 } });
    expect([success, ignored]).toEqual([false, [{ path: [], keys: ["b"] }]]);
    expect(error?.issues.map(({ code, path }) => [code, path])).toEqual([
      ["invalid_type", ["name"]],
      ["invalid_union", ["goto"]],
    ]);
  });

  test("also finds errors between known members", ({ expect }) => {
    const either = z
      .strictObject({ a: z.number().optional(), b: z.number().optional() })
      .refine(({ a, b }) => a === undefined || b === undefined, "Not both");
    expect(parseKnown(either, { a: 1, c: 2 })).toMatchObject({ success: true, data: { a: 1 } });
    const both = parseKnown(either, { a: 1, b: 2, c: 3 });
    expect(both.error?.issues.map(({ message }) => message)).toEqual(["Not both"]);
  });

  test("removes members that have a meaning in JavaScript", ({ expect }) => {
    const { data, ignored } = parsed(JSON.parse('{"name":"a","__proto__":{"x":1},"toString":1}'));
    expect(Object.entries(data ?? {})).toEqual([["name", "a"]]);
    expect(ignored).toEqual([{ path: [], keys: ["__proto__", "toString"] }]);
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
  });

  test("removes any number of members", ({ expect }) => {
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k${i}`, i]));
    const { data, ignored } = parsed({ ...many, name: "a", nested: many });
    expect(data).toEqual({ name: "a", nested: {} });
    expect(ignored.map(({ keys }) => keys.length)).toEqual([200_000, 200_000]);
  });
});
