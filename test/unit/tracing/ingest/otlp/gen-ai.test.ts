import { describe, test } from "vitest";
import { mappedRun, metadataOf, runWith, type SpanInit } from "./support/otlp-requests.ts";

function withEvents(...events: NonNullable<SpanInit["events"]>) {
  const { inputs, outputs, events: rest } = mappedRun({ events });
  return { inputs, outputs, events: rest };
}

const ASSISTANT = {
  name: "gen_ai.assistant.message",
  attributes: {
    "gen_ai.system": "openai",
    "tool_calls.0.id": "c1",
    "tool_calls.0.type": "function",
    "tool_calls.0.function.name": "get_weather",
    "tool_calls.0.function.arguments": '{"city":"Oslo"}',
  },
};
const ASSISTANT_MESSAGE = {
  role: "assistant",
  tool_calls: [
    {
      id: "c1",
      type: "function",
      function: { name: "get_weather", arguments: '{"city":"Oslo"}' },
    },
  ],
};
const TOOL = {
  name: "gen_ai.tool.message",
  attributes: { id: "c1", content: "rainy" },
};
const TOOL_MESSAGE = { role: "tool", tool_call_id: "c1", content: "rainy" };

describe("GenAI attributes", () => {
  test("can be messages made of parts", ({ expect }) => {
    const run = runWith({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-4",
      "gen_ai.response.id": "chatcmpl-1",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.conversation.id": "conv_1",
      "gen_ai.system_instructions": '[{"type":"text","content":"Never joke"}]',
      "gen_ai.input.messages": JSON.stringify([
        { role: "user", parts: [{ type: "text", content: "Weather in Oslo?" }] },
        {
          role: "assistant",
          parts: [
            { type: "tool_call", id: "c1", name: "get_weather", arguments: { city: "Oslo" } },
          ],
        },
        {
          role: "tool",
          parts: [
            { type: "tool_call_response", id: "c1", response: "rainy" },
            { type: "tool_call_response", id: "c2", result: { degrees: 4 } },
          ],
        },
        {
          role: "user",
          parts: [
            { type: "text", content: "And this?" },
            { type: "uri", modality: "image", uri: "http://i" },
          ],
        },
      ]),
      "gen_ai.output.messages": JSON.stringify([
        {
          role: "assistant",
          parts: [
            { type: "reasoning", content: "hm" },
            { type: "text", content: "Rain." },
          ],
          finish_reason: "stop",
        },
      ]),
      "gen_ai.tool.definitions": '[{"type":"function","name":"get_weather"}]',
      "gen_ai.usage.input_tokens": 97,
      "gen_ai.usage.output_tokens": 52,
      "gen_ai.usage.cache_read.input_tokens": 50,
      "gen_ai.usage.cache_creation.input_tokens": 5,
      "gen_ai.usage.reasoning.output_tokens": 20,
    });
    const usage = {
      input_tokens: 97,
      output_tokens: 52,
      input_token_details: { cache_read: 50, cache_creation: 5 },
      output_token_details: { reasoning: 20 },
    };
    expect(run.inputs).toEqual({
      messages: [
        { role: "system", content: "Never joke" },
        { role: "user", content: "Weather in Oslo?" },
        { ...ASSISTANT_MESSAGE, content: "" },
        TOOL_MESSAGE,
        { role: "tool", tool_call_id: "c2", content: { degrees: 4 } },
        {
          role: "user",
          content: [
            { type: "text", text: "And this?" },
            { type: "uri", modality: "image", uri: "http://i" },
          ],
        },
      ],
    });
    expect(run.outputs).toEqual({
      messages: [
        {
          role: "assistant",
          finish_reason: "stop",
          content: [
            { type: "reasoning", content: "hm" },
            { type: "text", text: "Rain." },
          ],
        },
      ],
      usage_metadata: usage,
    });
    expect(run.extra["invocation_params"]).toEqual({
      model: "gpt-4",
      tools: [{ type: "function", name: "get_weather" }],
    });
    expect(metadataOf(run)).toEqual({
      "gen_ai.response.id": "chatcmpl-1",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.conversation.id": "conv_1",
      ls_provider: "openai",
      ls_model_name: "gpt-4",
      usage_metadata: usage,
    });
  });

  test("keep messages that are not lists of parts", ({ expect }) => {
    const messages = '[{"role":"user","content":"hi"},7]';
    expect(runWith({ "gen_ai.input.messages": messages }).inputs).toEqual({
      messages: [{ role: "user", content: "hi" }],
    });
    expect(runWith({ "gen_ai.input.messages": "[]" }).inputs).toBe(undefined);
    expect(runWith({ "gen_ai.input.messages": "{" }).inputs).toBe(undefined);
  });

  test("can have the prompt and completion as one attribute", ({ expect }) => {
    const json = runWith({ "gen_ai.prompt": '{"a":1}', "gen_ai.completion": '{"b":2}' });
    expect([json.inputs, json.outputs]).toEqual([{ a: 1 }, { b: 2 }]);
    const text = runWith({ "gen_ai.prompt": "a", "gen_ai.completion": "b" });
    expect([text.inputs, text.outputs]).toEqual([{ input: "a" }, { output: "b" }]);
  });

  test("can be a tool call", ({ expect }) => {
    const run = runWith({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "get_weather",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.call.arguments": '{"city":"Oslo"}',
      "gen_ai.tool.call.result": "rainy",
    });
    expect(run.run_type).toBe("tool");
    expect(run.inputs).toEqual({ city: "Oslo" });
    expect(run.outputs).toEqual({ output: "rainy" });
    expect(run.extra["invocation_params"]).toEqual({ tool_name: "get_weather" });
    expect(metadataOf(run)).toEqual({ "gen_ai.tool.call.id": "c1" });
  });
});

describe("GenAI events", () => {
  test("can be prompt and completion", ({ expect }) => {
    expect(
      withEvents(
        { name: "gen_ai.content.prompt", attributes: { "gen_ai.prompt": '{"q":1}' } },
        { name: "gen_ai.content.completion", attributes: { "gen_ai.completion": "text" } },
      ),
    ).toEqual({ inputs: { q: 1 }, outputs: { output: "text" } });
  });

  test("put messages of users into inputs, and those of assistants and tools into outputs", ({
    expect,
  }) => {
    expect(
      withEvents(
        { name: "gen_ai.system.message", attributes: { content: "be brief" } },
        { name: "gen_ai.user.message", attributes: { content: "hi", role: "human" } },
        ASSISTANT,
        TOOL,
      ),
    ).toEqual({
      inputs: {
        messages: [
          { role: "system", content: "be brief" },
          { role: "human", content: "hi" },
        ],
      },
      outputs: { messages: [ASSISTANT_MESSAGE, TOOL_MESSAGE] },
    });
  });

  test("are the history of a choice", ({ expect }) => {
    expect(
      withEvents(
        { name: "gen_ai.user.message", attributes: { content: "Weather?" } },
        ASSISTANT,
        TOOL,
        {
          name: "gen_ai.choice",
          attributes: {
            "gen_ai.system": "openai",
            finish_reason: "tool_calls",
            "message.role": "assistant",
            "message.content": "Rain.",
            "tool_calls.0.id": "c2",
            "tool_calls.0.type": "function",
            "tool_calls.0.function.name": "f",
            "tool_calls.0.function.arguments": "{}",
          },
        },
      ),
    ).toEqual({
      inputs: {
        messages: [{ role: "user", content: "Weather?" }, ASSISTANT_MESSAGE, TOOL_MESSAGE],
      },
      outputs: {
        finish_reason: "tool_calls",
        message: { role: "assistant", content: "Rain." },
        tool_calls: [{ id: "c2", type: "function", function: { name: "f", arguments: "{}" } }],
      },
    });
  });

  test("keep several choices", ({ expect }) => {
    const choice = (content: string) => ({
      name: "gen_ai.choice",
      attributes: { "message.content": content },
    });
    expect(withEvents(choice("a"), choice("b")).outputs).toEqual({
      choices: [{ message: { content: "a" } }, { message: { content: "b" } }],
    });
  });

  test("can have a whole message in one attribute", ({ expect }) => {
    const content = (value: unknown) => ({ "gen_ai.event.content": JSON.stringify(value) });
    expect(
      withEvents(
        { name: "gen_ai.user.message", attributes: content({ role: "user", content: "hi" }) },
        { name: "gen_ai.tool.message", attributes: content({ id: "c1", content: "x" }) },
        {
          name: "gen_ai.choice",
          attributes: content({ index: 0, message: { content: "yes" }, finish_reason: "stop" }),
        },
      ),
    ).toEqual({
      inputs: {
        messages: [
          { role: "user", content: "hi" },
          { role: "tool", id: "c1", content: "x" },
        ],
      },
      outputs: { index: 0, message: { content: "yes" }, finish_reason: "stop" },
    });
  });

  test("can be the event with all details", ({ expect }) => {
    const attributes = {
      "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
      "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"yo"}]}]',
    };
    expect(withEvents({ name: "gen_ai.client.inference.operation.details", attributes })).toEqual({
      inputs: { messages: [{ role: "user", content: "hi" }] },
      outputs: { messages: [{ role: "assistant", content: "yo" }] },
    });
  });

  test("take precedence over attributes, and other events are kept", ({ expect }) => {
    const run = mappedRun({
      attributes: { "gen_ai.prompt.0.content": "attribute", "output.value": "out" },
      events: [
        { name: "gen_ai.user.message", attributes: { content: "event" } },
        { name: "gen_ai.user.message" },
        { name: "new_token", attributes: { n: 1 } },
      ],
    });
    expect(run.inputs).toEqual({ messages: [{ role: "user", content: "event" }] });
    expect(run.outputs).toEqual({ output: "out" });
    expect(run.events).toEqual([
      { name: "gen_ai.user.message", time: "2026-08-01T12:00:01.000001Z" },
      { name: "new_token", time: "2026-08-01T12:00:01.000001Z", kwargs: { n: 1 } },
    ]);
  });
});

describe("exceptions", () => {
  const exception = (attributes: Record<string, string>) => ({ name: "exception", attributes });

  test("are the error, with the stack trace below", ({ expect }) => {
    const run = mappedRun({
      events: [
        exception({
          "exception.type": "ValueError",
          "exception.message": "no such city",
          "exception.stacktrace": "Traceback:\n  line 1",
        }),
        exception({ "exception.message": "second" }),
      ],
    });
    expect(run.error).toBe("no such city\n\nStacktrace:\nTraceback:\n  line 1");
    expect(run.events).toEqual([
      {
        name: "exception",
        time: "2026-08-01T12:00:01.000001Z",
        kwargs: { "exception.message": "second" },
      },
    ]);
  });

  test.for<[Record<string, string>, string]>([
    [{ "exception.message": "m" }, "m"],
    [{ "exception.stacktrace": "s" }, "Stacktrace:\ns"],
    [{ "exception.type": "T" }, "T"],
    [{}, "Error"],
  ])("are mapped: %o", ([attributes, error], { expect }) => {
    const run = mappedRun({ events: [exception(attributes)] });
    expect(run.error).toBe(error);
    expect(run.events).toBe(undefined);
  });
});
