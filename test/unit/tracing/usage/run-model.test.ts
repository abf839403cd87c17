import { describe, test } from "vitest";
import { modelOf, nameAt } from "../../../../src/tracing/usage/run-model.ts";

describe("modelOf", () => {
  test.for([
    [["model", "model_name", "model_id", "model_path", "endpoint_name"], "model"],
    [["endpoint_name", "model_path", "model_id", "model_name"], "model_name"],
    [["endpoint_name", "model_path", "model_id"], "model_id"],
    [["endpoint_name", "model_path"], "model_path"],
    [["endpoint_name", "deployment"], "endpoint_name"],
  ] as const)("selects among the parameters %j: %s", ([keys, expected], { expect }) => {
    const params = Object.fromEntries(keys.map((key) => [key, key]));
    expect(modelOf({ invocation_params: params })).toEqual({
      name: expected,
      provider: null,
      fields: params,
    });
  });

  test("prefers ls_model_name to the parameters", ({ expect }) => {
    const extra = {
      invocation_params: { model: "alias", model_id: "id", temperature: 1, stop: ["x"] },
      metadata: { ls_model_name: "gpt-4o", ls_provider: "openai" },
    };
    expect(modelOf(extra)).toEqual({
      name: "gpt-4o",
      provider: "openai",
      fields: { model: "gpt-4o", model_name: "gpt-4o", model_id: "id" },
    });
  });

  test.for([
    undefined,
    null,
    "text",
    [],
    {},
    { invocation_params: null, metadata: 7 },
    { invocation_params: ["model"], metadata: { ls_model_name: "", ls_provider: 1 } },
    { invocation_params: { model: { name: "x" }, model_name: "x".repeat(257) } },
  ])("returns none for %j", (extra, { expect }) => {
    expect(modelOf(extra)).toEqual({ name: null, provider: null, fields: {} });
  });
});

test("a path finds only the model's own properties", ({ expect }) => {
  expect(nameAt({}, ["toString", "constructor"])).toBeNull();
});
