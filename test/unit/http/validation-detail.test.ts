import { z } from "@hono/zod-openapi";
import { describe, test } from "vitest";
import { toValidationDetail } from "../../../src/http/validation-detail.ts";

const schema = z.strictObject({
  graph_id: z.string().min(1),
  limit: z.int().min(1).max(1000).optional(),
  sort_order: z.enum(["asc", "desc"]).optional(),
  id: z.guid().optional(),
  tags: z.array(z.string()).max(2).optional(),
  flag: z.boolean().optional(),
  nodes: z.union([z.literal("*"), z.array(z.string())]).optional(),
  nested: z.strictObject({ deep: z.record(z.string(), z.number()) }).optional(),
});

function detailOf(input: unknown) {
  const result = schema.safeParse(input);
  return result.success ? [] : toValidationDetail("body", result.error.issues, input);
}

describe("toValidationDetail", () => {
  test("distinguishes a missing field from one of a wrong type", ({ expect }) => {
    expect(detailOf({})).toEqual([
      { loc: ["body", "graph_id"], msg: "Field required", type: "missing" },
    ]);
    expect(detailOf({ graph_id: null })).toEqual([
      { loc: ["body", "graph_id"], msg: "Input should be a valid string", type: "string_type" },
    ]);
  });

  test.for([
    [{ limit: 0 }, ["limit"], "greater_than_equal"],
    [{ limit: 1001 }, ["limit"], "less_than_equal"],
    [{ limit: 1.5 }, ["limit"], "int_type"],
    [{ limit: "1" }, ["limit"], "float_type"],
    [{ sort_order: "up" }, ["sort_order"], "enum"],
    [{ id: "nope" }, ["id"], "uuid_parsing"],
    [{ tags: "a" }, ["tags"], "list_type"],
    [{ tags: ["a", 1] }, ["tags", 1], "string_type"],
    [{ tags: ["a", "b", "c"] }, ["tags"], "too_long"],
    [{ flag: "yes" }, ["flag"], "bool_type"],
    [{ nested: { deep: { x: "y" } } }, ["nested", "deep", "x"], "float_type"],
    [{ nested: [] }, ["nested"], "dict_type"],
  ] as const)("reports %j", ([input, path, type], { expect }) => {
    const detail = detailOf({ graph_id: "g", ...input });
    expect(detail.map(({ loc, type }) => ({ loc, type }))).toEqual([
      { loc: ["body", ...path], type },
    ]);
  });

  test("reports the branch of a union that fits best", ({ expect }) => {
    const [entry] = detailOf({ graph_id: "g", nodes: ["a", 2] });
    expect(entry).toEqual({
      loc: ["body", "nodes", 1],
      msg: "Input should be a valid string",
      type: "string_type",
    });
  });

  test("reports a body that is not an object", ({ expect }) => {
    expect(detailOf([])).toEqual([
      { loc: ["body"], msg: "Input should be an object", type: "dict_type" },
    ]);
  });
});
