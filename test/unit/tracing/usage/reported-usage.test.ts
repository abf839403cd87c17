import fc from "fast-check";
import { describe, test } from "vitest";
import { usageOf, usageOfExtra } from "../../../../src/tracing/usage/reported-usage.ts";

const METADATA = {
  input_tokens: 20,
  output_tokens: 10,
  total_tokens: 30,
  input_token_details: { cache_read: 5 },
  output_token_details: { reasoning: 4 },
};

const PARSED = { explicit: false, ...METADATA };

/** Returns a message as LangChain serialises it. */
function serialised(kwargs: object) {
  return { lc: 1, type: "constructor", id: ["langchain_core", "messages", "AIMessage"], kwargs };
}

describe("usage_metadata at the top of outputs", () => {
  test("is the usage of any run", ({ expect }) => {
    expect(usageOf({ answer: 42, usage_metadata: METADATA })).toEqual({
      ...PARSED,
      explicit: true,
    });
  });

  test("can have costs", ({ expect }) => {
    const costs = {
      input_cost: 0.000_035,
      output_cost: "0.00003",
      total_cost: 6.5e-5,
      input_cost_details: { cache_read: 0.000_005, text: null },
      output_cost_details: { reasoning: 0 },
    };
    expect(usageOf({ usage_metadata: costs })).toEqual({
      explicit: true,
      input_cost: 0.000_035,
      output_cost: 0.000_03,
      total_cost: 6.5e-5,
      input_cost_details: { cache_read: 0.000_005 },
      output_cost_details: { reasoning: 0 },
    });
  });

  test("takes precedence over a message in the outputs", ({ expect }) => {
    const outputs = {
      usage_metadata: { input_tokens: 1 },
      generations: [[{ message: serialised({ usage_metadata: METADATA }) }]],
      usage: { prompt_tokens: 9 },
    };
    expect(usageOf(outputs)).toEqual({ explicit: true, input_tokens: 1 });
  });

  test.for([
    ["not a number", { input_tokens: "many", output_tokens: 3 }, { output_tokens: 3 }],
    ["negative", { input_tokens: -1, output_tokens: 3, input_cost: -0.5 }, { output_tokens: 3 }],
    ["null", { input_tokens: null, output_tokens: 3, total_cost: null }, { output_tokens: 3 }],
    ["empty", { input_tokens: "", output_tokens: " ", total_tokens: 3 }, { total_tokens: 3 }],
    ["a flag", { input_tokens: true, total_tokens: 3 }, { total_tokens: 3 }],
    ["too large", { input_tokens: 1e13, total_cost: 1e9, output_tokens: 3 }, { output_tokens: 3 }],
    ["a list", { input_token_details: [1], output_tokens: 3 }, { output_tokens: 3 }],
    [
      "a number in a text",
      { input_tokens: "20", output_tokens: 3 },
      { input_tokens: 20, output_tokens: 3 },
    ],
    ["a fraction", { input_tokens: 2.5, output_tokens: 3 }, { input_tokens: 3, output_tokens: 3 }],
    [
      "bad in a breakdown",
      { output_tokens: 3, output_token_details: { audio: -1, reasoning: 2, text: "x" } },
      { output_tokens: 3, output_token_details: { reasoning: 2 } },
    ],
    [
      "no breakdown",
      { output_tokens: 3, output_token_details: { audio: null }, input_token_details: {} },
      { output_tokens: 3 },
    ],
  ] as const)("can have a value that is %s", ([, metadata, expected], { expect }) => {
    expect(usageOf({ usage_metadata: metadata })).toEqual({ explicit: true, ...expected });
  });

  test("counts at most 50 categories", ({ expect }) => {
    const names = Array.from({ length: 60 }, (_, index) => [`c${index}`, index]);
    const usage = usageOf({ usage_metadata: { input_token_details: Object.fromEntries(names) } });
    expect(Object.keys(usage?.input_token_details ?? {})).toHaveLength(50);
  });
});

describe("a model's answer", () => {
  test.for([
    ["serialised", { generations: [[{ message: serialised({ usage_metadata: METADATA }) }]] }],
    ["plain", { generations: [[{ message: { type: "ai", usage_metadata: METADATA } }]] }],
    ["in a list without prompts", { generations: [{ message: { usage_metadata: METADATA } }] }],
    ["itself the outputs", serialised({ usage_metadata: METADATA })],
    ["in message", { message: { usage_metadata: METADATA } }],
    ["the only one in messages", { messages: [serialised({ usage_metadata: METADATA })] }],
    ["in output", { output: serialised({ usage_metadata: METADATA }) }],
    ["in outputs", { outputs: [{ type: "ai", data: { usage_metadata: METADATA } }] }],
  ] as const)("is found if it is %s", ([, outputs], { expect }) => {
    expect(usageOf(outputs)).toEqual(PARSED);
  });

  test("is summed up over generations", ({ expect }) => {
    const other = {
      input_tokens: 1,
      total_tokens: 3,
      total_cost: 0.5,
      input_token_details: { cache_read: 2, audio: 7 },
    };
    const outputs = {
      generations: [
        [{ message: serialised({ usage_metadata: METADATA }) }, { text: "no message" }],
        [{ message: { usage_metadata: other } }, null],
      ],
    };
    expect(usageOf(outputs)).toEqual({
      explicit: false,
      input_tokens: 21,
      output_tokens: 10,
      total_tokens: 33,
      total_cost: 0.5,
      input_token_details: { cache_read: 7, audio: 7 },
      output_token_details: { reasoning: 4 },
    });
  });

  const camel = { promptTokens: 20, completionTokens: 10, totalTokens: 30 };
  const snake = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
  const counted = { explicit: false, input_tokens: 20, output_tokens: 10, total_tokens: 30 };

  test.for([
    ["llmOutput", { generations: [[{ text: "hi" }]], llmOutput: { tokenUsage: camel } }],
    ["llm_output", { generations: [[{ text: "hi" }]], llm_output: { token_usage: snake } }],
    [
      "llm_output of Anthropic",
      { llm_output: { usage: { input_tokens: 20, output_tokens: 10, total_tokens: 30 } } },
    ],
    [
      "the message's response_metadata",
      { generations: [[{ message: serialised({ response_metadata: { tokenUsage: camel } }) }]] },
    ],
    ["usage", { id: "chatcmpl", choices: [], usage: snake }],
    ["the only choice", { choices: [{ message: {}, usage: snake }] }],
    ["usage of an output", { output: { usage: camel } }],
  ] as const)("can have its usage in %s", ([, outputs], { expect }) => {
    expect(usageOf(outputs)).toEqual(counted);
  });

  test("of OpenAI includes cached and reasoning tokens in the others", ({ expect }) => {
    const usage = {
      prompt_tokens: 20,
      completion_tokens: 10,
      total_tokens: 30,
      prompt_tokens_details: { cached_tokens: 5, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 4, audio_tokens: null },
    };
    expect(usageOf({ usage })).toEqual({
      ...PARSED,
      input_token_details: { audio: 0, cache_read: 5 },
    });
    const responses = {
      input_tokens: 20,
      output_tokens: 10,
      total_tokens: 30,
      input_tokens_details: { cached_tokens: 5 },
      output_tokens_details: { reasoning_tokens: 4 },
    };
    expect(usageOf({ usage: responses })).toEqual(PARSED);
  });

  test("of Anthropic counts cached tokens separately", ({ expect }) => {
    const usage = {
      input_tokens: 10,
      output_tokens: 7,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 3,
    };
    expect(usageOf({ usage })).toEqual({
      explicit: false,
      input_tokens: 18,
      output_tokens: 7,
      input_token_details: { cache_read: 5, cache_creation: 3 },
    });
    const lifetimes = { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 2 };
    expect(usageOf({ usage: { ...usage, cache_creation: lifetimes } })).toEqual({
      explicit: false,
      input_tokens: 18,
      output_tokens: 7,
      input_token_details: { cache_read: 5, ...lifetimes },
    });
  });

  test("of Bedrock counts cached tokens separately, too", ({ expect }) => {
    const usage = { inputTokens: 10, outputTokens: 7, totalTokens: 22, cacheReadInputTokens: 5 };
    expect(usageOf({ usage })).toEqual({
      explicit: false,
      input_tokens: 15,
      output_tokens: 7,
      input_token_details: { cache_read: 5 },
    });
  });

  test("of a router includes them in the others, whatever their names", ({ expect }) => {
    const usage = { prompt_tokens: 20, completion_tokens: 10, cache_read_input_tokens: 5 };
    expect(usageOf({ usage })).toEqual({
      explicit: false,
      input_tokens: 20,
      output_tokens: 10,
      input_token_details: { cache_read: 5 },
    });
  });
});

describe("usage is missing", () => {
  test.for([
    undefined,
    null,
    "text",
    7,
    [],
    {},
    { answer: "text", messages: "text", usage: "much", llm_output: [], choices: {} },
    { usage_metadata: {}, usage: {}, generations: [] },
    { usage_metadata: [1, 2] },
    { generations: [[], [null, "x", { message: "x" }, { message: { usage_metadata: null } }]] },
    { messages: [{ usage_metadata: METADATA }, { usage_metadata: METADATA }] },
    { nested: { usage_metadata: METADATA } },
  ])("in %j", (outputs, { expect }) => {
    expect(usageOf(outputs)).toBeNull();
  });

  test("if it cannot be read", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const key of ["usage_metadata", "generations", "llm_output", "usage", "message"]) {
          const usage = usageOf({ [key]: value });
          expect(usage === null || typeof usage.explicit === "boolean").toBe(true);
        }
        usageOf(value);
        usageOfExtra(value);
      }),
    );
  });
});

describe("usageOfExtra", () => {
  test("reads the metadata of any run", ({ expect }) => {
    expect(usageOfExtra({ metadata: { usage_metadata: METADATA } })).toEqual({
      ...PARSED,
      explicit: true,
    });
  });

  test.for([undefined, null, [], {}, { metadata: null }, { metadata: { usage_metadata: 3 } }])(
    "returns none for %j",
    (extra, { expect }) => {
      expect(usageOfExtra(extra)).toBeNull();
    },
  );
});
