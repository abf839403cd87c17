import { describe, test } from "vitest";
import { metadataOf, runWith } from "./support/otlp-requests.ts";

describe("Traceloop's attributes", () => {
  test("describe a model call", ({ expect }) => {
    const run = runWith({
      "llm.request.type": "chat",
      "gen_ai.system": "OpenAI",
      "gen_ai.request.model": "gpt-4o-mini",
      "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
      "gen_ai.request.temperature": 0.7,
      "gen_ai.request.top_p": 0.9,
      "gen_ai.request.top_k": 40,
      "gen_ai.request.max_tokens": 256,
      "gen_ai.request.seed": 7,
      "gen_ai.request.stop_sequences": ["END"],
      "gen_ai.request.encoding_formats": ["float"],
      "gen_ai.request.frequency_penalty": 0.1,
      "llm.presence_penalty": 0.3,
      "llm.request.functions": '[{"name":"f"}]',
      "gen_ai.prompt.0.role": "system",
      "gen_ai.prompt.0.content": "You are helpful",
      "gen_ai.prompt.1.role": "user",
      "gen_ai.prompt.1.content": "Hi",
      "gen_ai.completion.0.role": "assistant",
      "gen_ai.completion.0.content": "Hello",
      "gen_ai.completion.0.finish_reason": "stop",
      "gen_ai.completion.0.tool_calls.0.id": "c1",
      "gen_ai.completion.0.tool_calls.0.name": "f",
      "gen_ai.completion.0.tool_calls.0.arguments": "{}",
      "gen_ai.usage.prompt_tokens": 12,
      "gen_ai.usage.completion_tokens": 3,
      "llm.usage.total_tokens": 15,
      "traceloop.association.properties.user_id": "u1",
      "llm.is_streaming": false,
    });
    const usage = { input_tokens: 12, output_tokens: 3, total_tokens: 15 };
    expect(run.run_type).toBe("llm");
    expect(run.inputs).toEqual({
      messages: [
        { role: "system", content: "You are helpful" },
        { role: "user", content: "Hi" },
      ],
    });
    expect(run.outputs).toEqual({
      messages: [
        {
          role: "assistant",
          content: "Hello",
          finish_reason: "stop",
          tool_calls: [{ id: "c1", name: "f", arguments: "{}" }],
        },
      ],
      usage_metadata: usage,
    });
    expect(run.extra["invocation_params"]).toEqual({
      model: "gpt-4o-mini",
      temperature: 0.7,
      top_p: 0.9,
      top_k: 40,
      max_tokens: 256,
      seed: 7,
      stop: ["END"],
      encoding_formats: ["float"],
      frequency_penalty: 0.1,
      presence_penalty: 0.3,
      functions: '[{"name":"f"}]',
    });
    expect(metadataOf(run)).toEqual({
      "llm.is_streaming": false,
      ls_provider: "OpenAI",
      ls_model_name: "gpt-4o-mini",
      user_id: "u1",
      usage_metadata: usage,
    });
  });

  test("can have messages with a wrapper, in any order, with gaps and beyond ten", ({ expect }) => {
    const run = runWith({
      "gen_ai.prompt.10.message.content": "last",
      "gen_ai.prompt.2.message.content": "second",
      "gen_ai.prompt.2.message.role": "user",
      "gen_ai.prompt.4000000000.role": "very last",
      "gen_ai.prompt.0.content": "first",
      "gen_ai.prompt.x.content": "no index",
    });
    expect(run.inputs).toEqual({
      messages: [
        { content: "first" },
        { content: "second", role: "user" },
        { content: "last" },
        { role: "very last" },
      ],
    });
  });

  test("describe a workflow", ({ expect }) => {
    const run = runWith({
      "traceloop.span.kind": "workflow",
      "traceloop.entity.name": "joke_workflow",
      "traceloop.workflow.name": "joke_workflow",
      "traceloop.entity.input": '{"args":["x"],"kwargs":{}}',
      "traceloop.entity.output": '"a joke"',
    });
    expect([run.name, run.run_type]).toEqual(["joke_workflow", "chain"]);
    expect(run.inputs).toEqual({ args: ["x"], kwargs: {} });
    expect(run.outputs).toEqual({ output: '"a joke"' });
    expect(metadataOf(run)).toEqual({ "traceloop.workflow.name": "joke_workflow" });
  });
});
