import type { Client, Run } from "langsmith";
import { traceable } from "langsmith/traceable";
import { wrapSDK } from "langsmith/wrappers";
import { wrapAnthropic } from "langsmith/wrappers/anthropic";
import { wrapGemini } from "langsmith/wrappers/gemini";
import { wrapOpenAI } from "langsmith/wrappers/openai";
import { describe } from "vitest";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracingWorkspace } from "../support/tracing.ts";

/** The price of the house models: 2 and 3 millionths for a token, and other rates for some kinds. */
const PRICE = {
  name: "House models",
  match_pattern: "^house-",
  prompt_cost: "0.000002",
  completion_cost: "0.000003",
  prompt_cost_details: { cache_read: "0.000001", ephemeral_5m_input_tokens: "0.000004" },
  completion_cost_details: { reasoning: "0.000005" },
};

async function pricedWorkspace(server: TestServer) {
  const workspace = await tracingWorkspace(server, "wrappers");
  const response = await workspace.api("POST", "/model-price-map", PRICE);
  if (!response.ok) throw new Error(await response.text());
  return workspace;
}

const test = testWithSharedServer().extend("workspace", { scope: "file" }, ({ server }) =>
  pricedWorkspace(server),
);

const traced = (client: Client, project_name: string) => ({
  client,
  project_name,
  tracingEnabled: true,
});

/** Returns the runs of a project, oldest first; some may start at the same time. */
async function runsOf(client: Client, projectName: string): Promise<Run[]> {
  await client.awaitPendingTraceBatches();
  return collect(client.listRuns({ projectName, order: "asc" }));
}

function amountsOf(run: Run | undefined) {
  const {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_cost,
    completion_cost,
    total_cost,
  } = run as unknown as Record<string, unknown>;
  return {
    tokens: [prompt_tokens, completion_tokens, total_tokens],
    costs: [prompt_cost, completion_cost, total_cost],
  };
}

const MESSAGES = [{ role: "user" as const, content: "hi" }];

const CHAT_USAGE = {
  prompt_tokens: 20,
  completion_tokens: 10,
  total_tokens: 30,
  prompt_tokens_details: { cached_tokens: 5, audio_tokens: null },
  completion_tokens_details: { reasoning_tokens: 4, audio_tokens: null },
};

/** Costs of 15 new and 5 cached input tokens, and of 6 output and 4 reasoning tokens. */
const CHAT_COSTS = ["0.000035", "0.000038", "0.000073"];

async function* stream<T>(items: readonly T[]): AsyncGenerator<T> {
  await Promise.resolve();
  yield* items;
}

/** Returns a client with answers like OpenAI's. */
function fakeOpenAI(answers: { chat?: unknown; text?: unknown; response?: unknown }) {
  return {
    chat: { completions: { create: async (..._args: unknown[]) => answers.chat } },
    completions: { create: async (..._args: unknown[]) => answers.text },
    responses: {
      create: async (..._args: unknown[]) => answers.response,
      retrieve: async (..._args: unknown[]) => null,
      parse: async (..._args: unknown[]) => null,
      stream: async (..._args: unknown[]) => null,
    },
  };
}

describe("a wrapped OpenAI client", () => {
  test("records a chat with its tokens and costs", async ({ workspace, expect }) => {
    const { client } = workspace;
    const chat = {
      id: "c1",
      choices: [{ index: 0, message: { role: "assistant", content: "hello" } }],
      usage: CHAT_USAGE,
    };
    const openai = wrapOpenAI(fakeOpenAI({ chat }), traced(client, "chat"));
    const ask = traceable(
      async () => openai.chat.completions.create({ model: "house-1", messages: MESSAGES, seed: 7 }),
      { name: "ask", ...traced(client, "chat") },
    );
    await ask();
    await ask();
    const runs = await runsOf(client, "chat");
    const [root, ...roots] = runs.filter(({ name }) => name === "ask");
    const [model, ...models] = runs.filter(({ run_type }) => run_type === "llm");
    expect([roots.length, models.length]).toEqual([1, 1]);
    expect(model).toMatchObject({
      name: "ChatOpenAI",
      inputs: { model: "house-1", messages: MESSAGES, seed: 7 },
      outputs: { choices: chat.choices, usage_metadata: { input_tokens: 20 } },
      extra: {
        metadata: {
          ls_provider: "openai",
          ls_model_type: "chat",
          ls_model_name: "house-1",
          ls_invocation_params: { seed: 7 },
        },
      },
    });
    const amounts = { tokens: [20, 10, 30], costs: CHAT_COSTS };
    expect(amountsOf(model)).toEqual(amounts);
    expect(amountsOf(root)).toEqual(amounts);
    const project = await client.readProject({ projectName: "chat", includeStats: true });
    expect(project).toMatchObject({
      run_count: 2,
      total_tokens: 60,
      prompt_tokens: 40,
      completion_tokens: 20,
      total_cost: "0.000146",
    });
    // The client's default selection has none of these fields.
    const [details] = await collect(client.listRuns({ id: [model?.id ?? ""] }));
    expect(details).toMatchObject({
      prompt_token_details: { cache_read: 5 },
      completion_token_details: { reasoning: 4 },
      prompt_cost_details: { cache_read: "0.000005" },
      completion_cost_details: { reasoning: "0.00002" },
    });
  });

  test("records a streamed chat as one run, with the time of its first token", async ({
    workspace,
    expect,
  }) => {
    const { client } = workspace;
    const piece = (delta: object, more: object = {}) => ({
      id: "c2",
      choices: [{ index: 0, delta, ...more }],
    });
    const chunks = [
      piece({ role: "assistant", content: "he" }),
      piece({ content: "llo" }),
      piece({ tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "{}" } }] }),
      piece({}, { finish_reason: "stop" }),
      { id: "c2", choices: [], usage: CHAT_USAGE },
    ];
    const openai = wrapOpenAI(fakeOpenAI({ chat: stream(chunks) }), traced(client, "stream"));
    const request = { model: "house-1", messages: MESSAGES, stream: true as const };
    const answer: unknown = await openai.chat.completions.create(request);
    expect(await collect(answer as AsyncIterable<unknown>)).toHaveLength(5);
    const [run] = await runsOf(client, "stream");
    expect(run).toMatchObject({
      name: "ChatOpenAI",
      status: "success",
      outputs: {
        choices: [{ finish_reason: "stop", message: { role: "assistant", content: "hello" } }],
      },
    });
    expect(amountsOf(run)).toEqual({ tokens: [20, 10, 30], costs: CHAT_COSTS });
    expect(run?.events?.map((event) => String(event["name"]))).toEqual(Array(5).fill("new_token"));
    expect(Reflect.get(run ?? {}, "first_token_time")).toEqual(expect.any(String));
  });

  test("records responses and texts", async ({ workspace, expect }) => {
    const { client } = workspace;
    const response = {
      output: [{ type: "message", content: [{ type: "output_text", text: "hello" }] }],
      usage: {
        input_tokens: 20,
        output_tokens: 10,
        total_tokens: 30,
        input_tokens_details: { cached_tokens: 5 },
        output_tokens_details: { reasoning_tokens: 4 },
      },
    };
    const text = { choices: [{ text: "hello" }], model: "house-2" };
    const openai = wrapOpenAI(fakeOpenAI({ response, text }), traced(client, "responses"));
    await openai.responses.create({ model: "house-1", input: "hi" });
    await openai.completions.create({ model: "house-2", prompt: "hi" });
    const runs = await runsOf(client, "responses");
    const answered = runs.find(({ name }) => name === "ChatOpenAI");
    const completed = runs.find(({ name }) => name === "OpenAI");
    expect(answered).toMatchObject({ outputs: { output: response.output } });
    expect(amountsOf(answered)).toEqual({ tokens: [20, 10, 30], costs: CHAT_COSTS });
    expect(completed).toMatchObject({ inputs: { prompt: "hi" }, outputs: text });
    expect(amountsOf(completed)).toEqual({ tokens: [0, 0, 0], costs: [null, null, null] });
  });

  test("records the error of a failed call", async ({ workspace, expect }) => {
    const { client } = workspace;
    const broken = fakeOpenAI({});
    broken.chat.completions.create = async () => Promise.reject(new Error("429 slow down"));
    const openai = wrapOpenAI(broken, traced(client, "limited"));
    await expect(
      openai.chat.completions.create({ model: "house-1", messages: MESSAGES }),
    ).rejects.toThrow("slow down");
    const [run] = await runsOf(client, "limited");
    expect(run).toMatchObject({ status: "error", error: "Error: 429 slow down", outputs: null });
  });
});

describe("a wrapped Anthropic client", () => {
  const usage = {
    input_tokens: 15,
    output_tokens: 10,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 2,
  };
  /** Amounts for 15 new tokens, 5 that are read from the cache and 2 that are written to it. */
  const amounts = { tokens: [22, 10, 32], costs: ["0.000043", "0.00003", "0.000073"] };

  test("records messages, streamed or not", async ({ workspace, expect }) => {
    const { client } = workspace;
    const content = [{ type: "text", text: "hello" }];
    const message = { id: "m", type: "message", role: "assistant", model: "house-1", content };
    const events = [
      {
        type: "message_start",
        message: { ...message, content: [], usage: { ...usage, output_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 10 } },
      { type: "message_stop" },
    ];
    const fake = {
      messages: {
        create: async (body: { stream?: boolean }) =>
          body.stream === true ? stream(events) : { ...message, usage },
        stream: () => stream(events),
      },
    };
    const anthropic = wrapAnthropic(fake, traced(client, "anthropic"));
    const create = anthropic.messages.create as unknown as (body: object) => Promise<unknown>;
    const body = { model: "house-1", max_tokens: 9, messages: MESSAGES };
    await create(body);
    const streamed = (await create({ ...body, stream: true })) as AsyncIterable<unknown>;
    expect(await collect(streamed)).toHaveLength(6);
    const runs = await runsOf(client, "anthropic");
    expect(runs.map(amountsOf)).toEqual([amounts, amounts]);
    for (const run of runs) {
      expect(run).toMatchObject({
        name: "ChatAnthropic",
        run_type: "llm",
        outputs: { role: "assistant", content },
        extra: { metadata: { ls_provider: "anthropic", ls_model_name: "house-1" } },
      });
    }
  });
});

describe("a wrapped Gemini client", () => {
  test("records what it generated", async ({ workspace, expect }) => {
    const { client } = workspace;
    const answer = {
      candidates: [
        { content: { role: "model", parts: [{ text: "hello" }] }, finishReason: "STOP" },
      ],
      usageMetadata: {
        promptTokenCount: 20,
        candidatesTokenCount: 6,
        thoughtsTokenCount: 4,
        cachedContentTokenCount: 5,
        totalTokenCount: 30,
      },
    };
    const fake = {
      models: {
        generateContent: async (..._args: unknown[]) => answer,
        generateContentStream: async (..._args: unknown[]) => stream([answer]),
      },
    };
    const gemini = wrapGemini(fake, traced(client, "gemini"));
    const request = { model: "house-1", contents: "hi" };
    await gemini.models.generateContent(request);
    await collect(await gemini.models.generateContentStream(request));
    const runs = await runsOf(client, "gemini");
    expect(runs.map(({ name, run_type, status }) => [name, run_type, status])).toEqual([
      ["ChatGoogleGenerativeAI", "llm", "success"],
      ["ChatGoogleGenerativeAI", "llm", "success"],
    ]);
    const [first] = runs.map(amountsOf);
    expect(first?.tokens[0]).toBe(20);
    expect(first?.tokens[2]).toBe(30);
  });
});

describe("any wrapped SDK", () => {
  test("records its calls, and the costs that they report", async ({ workspace, expect }) => {
    const { client } = workspace;
    const sdk = wrapSDK(
      {
        search: {
          run: async (query: string) => ({
            found: query.length,
            usage_metadata: { total_cost: 0.0125 },
          }),
        },
      },
      { name: "engine", ...traced(client, "sdk"), run_type: "tool" },
    );
    const outer = traceable(async () => (await sdk.search.run("tea")).found, {
      name: "outer",
      ...traced(client, "sdk"),
    });
    await outer();
    const [root, call] = await runsOf(client, "sdk");
    expect(call).toMatchObject({
      name: "engine.search.run",
      run_type: "tool",
      inputs: { input: "tea" },
      outputs: { found: 3 },
    });
    const costs = [null, null, "0.0125"];
    expect([amountsOf(call).costs, amountsOf(root).costs[2]]).toEqual([costs, "0.0125"]);
  });
});
