import { describe, test } from "vitest";
import { metadataOf, runWith } from "./support/otlp-requests.ts";

function usageWith(attributes: Parameters<typeof runWith>[0]): unknown {
  return metadataOf(runWith(attributes))["usage_metadata"];
}

describe("usage_metadata", () => {
  test("is in the outputs if there are any, and in the metadata", ({ expect }) => {
    const counts = { "gen_ai.usage.input_tokens": 1, "gen_ai.usage.output_tokens": 0 };
    const usage = { input_tokens: 1, output_tokens: 0 };
    const run = runWith({ ...counts, "output.value": "x" });
    expect(run.outputs).toEqual({ output: "x", usage_metadata: usage });
    expect(metadataOf(run)).toEqual({ usage_metadata: usage });
    const silent = runWith(counts);
    expect(silent.outputs).toBe(undefined);
    expect(metadataOf(silent)).toEqual({ usage_metadata: usage });
  });

  test("is kept from the outputs themselves", ({ expect }) => {
    const run = runWith({
      "gen_ai.usage.input_tokens": 1,
      "gen_ai.completion": '{"usage_metadata":{"input_tokens":2}}',
    });
    expect(run.outputs).toEqual({ usage_metadata: { input_tokens: 2 } });
  });

  test.for<[string, string]>([
    ["gen_ai.usage.input_tokens", "input_tokens"],
    ["gen_ai.usage.prompt_tokens", "input_tokens"],
    ["llm.token_count.prompt", "input_tokens"],
    ["gen_ai.usage.output_tokens", "output_tokens"],
    ["gen_ai.usage.completion_tokens", "output_tokens"],
    ["llm.token_count.completion", "output_tokens"],
    ["gen_ai.usage.total_tokens", "total_tokens"],
    ["llm.token_count.total", "total_tokens"],
    ["llm.usage.total_tokens", "total_tokens"],
  ])("has from %s: %s", ([key, name], { expect }) => {
    expect(usageWith({ [key]: 9 })).toEqual({ [name]: 9 });
  });

  test("has reasoning tokens as such, and as a detail", ({ expect }) => {
    expect(usageWith({ "gen_ai.usage.details.reasoning_tokens": 6 })).toEqual({
      reasoning_tokens: 6,
      output_token_details: { reasoning: 6 },
    });
  });

  test("can have details as JSON", ({ expect }) => {
    expect(
      usageWith({
        "gen_ai.usage.input_token_details": '{"cache_read":2}',
        "gen_ai.usage.output_token_details": "no JSON",
      }),
    ).toEqual({ input_token_details: { cache_read: 2 } });
  });

  test("accepts counts as text, and ignores invalid ones", ({ expect }) => {
    expect(usageWith({ "gen_ai.usage.input_tokens": "12" })).toEqual({ input_tokens: 12 });
    for (const count of [-1, 1.5, "many", true, "99999999999999999999"]) {
      expect(usageWith({ "gen_ai.usage.input_tokens": count })).toBe(undefined);
    }
  });

  test("prefers LangSmith's object to counts", ({ expect }) => {
    const counts = { "gen_ai.usage.input_tokens": 1 };
    const own = { "langsmith.usage_metadata": '{"input_tokens":2,"total_cost":0.5}' };
    const metadata = { "langsmith.metadata.usage_metadata": '{"input_tokens":3}' };
    expect(usageWith({ ...counts, ...own, ...metadata })).toEqual({
      input_tokens: 2,
      total_cost: 0.5,
    });
    expect(usageWith({ ...counts, ...metadata })).toEqual({ input_tokens: 3 });
  });

  test("is not set for an agent, whose counts repeat those of the calls within", ({ expect }) => {
    const counts = { "gen_ai.usage.input_tokens": 5 };
    for (const container of [
      { "gen_ai.operation.name": "invoke_agent" },
      { "openinference.span.kind": "AGENT" },
      { "traceloop.span.kind": "workflow" },
    ]) {
      expect(metadataOf(runWith({ ...counts, ...container }))).toEqual(counts);
    }
    expect(usageWith({ ...counts, "langsmith.span.kind": "chain" })).toEqual({ input_tokens: 5 });
    expect(
      usageWith({ "openinference.span.kind": "AGENT", "langsmith.usage_metadata": "{}" }),
    ).toEqual({});
  });
});
