import { describe, test } from "vitest";
import { metadataOf, runWith } from "./support/otlp-requests.ts";

describe("OpenInference's attributes", () => {
  test("describe an LLM span", ({ expect }) => {
    const run = runWith({
      "openinference.span.kind": "LLM",
      "llm.provider": "azure",
      "llm.system": "openai",
      "llm.model_name": "gpt-4o",
      "llm.invocation_parameters": '{"temperature":0.2,"stop":["x"]}',
      "input.value": '{"raw":"request"}',
      "input.mime_type": "application/json",
      "output.value": "raw answer",
      "llm.input_messages.1.message.role": "user",
      "llm.input_messages.1.message.contents.0.message_content.type": "text",
      "llm.input_messages.1.message.contents.0.message_content.text": "look",
      "llm.input_messages.1.message.contents.1.message_content.type": "image",
      "llm.input_messages.1.message.contents.1.message_content.image.image.url": "http://i",
      "llm.input_messages.0.message.role": "system",
      "llm.input_messages.0.message.content": "be brief",
      "llm.output_messages.0.message.role": "assistant",
      "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
      "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_weather",
      "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"city":"Oslo"}',
      "llm.token_count.prompt": 10,
      "llm.token_count.completion": 5,
      "llm.token_count.total": 15,
      "llm.token_count.prompt_details.cache_read": 4,
      "llm.token_count.prompt_details.cache_write": 3,
      "llm.token_count.completion_details.reasoning": 2,
      "llm.tools.0.tool.json_schema": '{"type":"function","function":{"name":"get_weather"}}',
      metadata: '{"user":"u1","depth":{"a":1}}',
    });
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      input_token_details: { cache_read: 4, cache_creation: 3 },
      output_token_details: { reasoning: 2 },
    };
    expect(run.run_type).toBe("llm");
    expect(run.inputs).toEqual({
      messages: [
        { role: "system", content: "be brief" },
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image", image: { url: "http://i" } },
          ],
        },
      ],
    });
    expect(run.outputs).toEqual({
      messages: [
        {
          role: "assistant",
          tool_calls: [
            { id: "c1", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } },
          ],
        },
      ],
      usage_metadata: usage,
    });
    expect(run.extra["invocation_params"]).toEqual({
      model: "gpt-4o",
      temperature: 0.2,
      stop: ["x"],
      tools: [{ type: "function", function: { name: "get_weather" } }],
    });
    expect(metadataOf(run)).toEqual({
      "input.mime_type": "application/json",
      ls_provider: "openai",
      ls_model_name: "gpt-4o",
      user: "u1",
      depth: { a: 1 },
      usage_metadata: usage,
    });
  });

  test("describe a chain with JSON and with plain text", ({ expect }) => {
    const chain = { "openinference.span.kind": "CHAIN" };
    const json = runWith({ ...chain, "input.value": '{"q":1}', "output.value": '{"a":[2]}' });
    expect([json.inputs, json.outputs]).toEqual([{ q: 1 }, { a: [2] }]);
    const text = runWith({ ...chain, "input.value": "q", "output.value": "{not JSON" });
    expect([text.inputs, text.outputs]).toEqual([{ input: "q" }, { output: "{not JSON" }]);
    const list = runWith({ ...chain, "input.value": "[1]", "output.value": "7" });
    expect([list.inputs, list.outputs]).toEqual([{ input: [1] }, { output: "7" }]);
    const none = runWith({ ...chain, "input.value": "" });
    expect([none.inputs, none.outputs]).toEqual([undefined, undefined]);
  });

  test("describe a retriever", ({ expect }) => {
    const run = runWith({
      "openinference.span.kind": "RETRIEVER",
      "input.value": "capital of Norway",
      "output.value": "ignored",
      "retrieval.documents.0.document.content": "Oslo",
      "retrieval.documents.0.document.metadata": '{"source":"atlas"}',
      "retrieval.documents.1.document.content": "Bergen",
      "retrieval.documents.1.document.id": "d2",
      "retrieval.documents.1.document.score": 0.5,
      "retrieval.documents.2.document.id": "without content",
    });
    expect(run.run_type).toBe("retriever");
    expect(run.inputs).toEqual({ query: "capital of Norway" });
    expect(run.outputs).toEqual({
      documents: [
        { page_content: "Oslo", metadata: { source: "atlas" }, type: "Document" },
        { page_content: "Bergen", metadata: { score: 0.5 }, type: "Document", id: "d2" },
      ],
    });
    expect(metadataOf(run)).toEqual({});
  });

  test("describe a retriever without documents", ({ expect }) => {
    const run = runWith({
      "openinference.span.kind": "RETRIEVER",
      "input.value": '{"query":"q","k":3}',
      "output.value": '{"hits":0}',
    });
    expect([run.inputs, run.outputs]).toEqual([{ query: "q", k: 3 }, { hits: 0 }]);
  });

  test("describe a prompt template", ({ expect }) => {
    const variables = JSON.stringify({ city: "Oslo", day: "Monday" });
    const prompt = (input: Record<string, string>) =>
      runWith({ "llm.prompt_template.variables": variables, ...input }).inputs;
    expect(prompt({})).toEqual({ city: "Oslo", day: "Monday" });
    expect(prompt({ "input.value": "Monday" })).toEqual({ day: "Monday" });
    expect(prompt({ "input.value": '{"x":1}' })).toEqual({ x: 1 });
    expect(prompt({ "input.value": "other" })).toEqual({ input: "other" });
  });

  test("describe a tool", ({ expect }) => {
    const run = runWith({
      "openinference.span.kind": "TOOL",
      "tool.name": "search",
      "tool.description": "Searches",
      "input.value": '{"q":"x"}',
      tools: '[{"name":"search"}]',
      tool_arguments: '{"q":"x"}',
    });
    expect([run.name, run.run_type]).toEqual(["search", "tool"]);
    expect(run.extra["invocation_params"]).toEqual({
      tools: [{ name: "search" }],
      tool_arguments: { q: "x" },
    });
    expect(metadataOf(run)).toEqual({ "tool.name": "search", "tool.description": "Searches" });
  });

  test("can have tools and arguments that are not JSON", ({ expect }) => {
    const params = (attributes: Parameters<typeof runWith>[0]) =>
      runWith(attributes).extra["invocation_params"];
    expect(params({ tools: "search", tool_arguments: "x" })).toEqual({
      tools: ["search"],
      tool_arguments: "x",
    });
    expect(params({ tools: ["a", "b"] })).toEqual({ tools: ["a", "b"] });
  });
});
