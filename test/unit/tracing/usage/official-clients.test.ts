import { HumanMessage, mapStoredMessageToChatMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import type { ChatResult } from "@langchain/core/outputs";
import { Client } from "langsmith";
import { wrapOpenAI } from "langsmith/wrappers/openai";
import { describe, test } from "vitest";
import { usageOf, usageOfExtra } from "../../../../src/tracing/usage/reported-usage.ts";
import { modelOf } from "../../../../src/tracing/usage/run-model.ts";

type SentRun = { id: string; outputs?: unknown; extra?: unknown };

/** Returns a client that sends its runs nowhere but to `sent`, merged by id, after a conversion to JSON. */
function recordingClient(): { client: Client; sent: Map<string, SentRun> } {
  const sent = new Map<string, SentRun>();
  const merge = (run: SentRun): Promise<void> => {
    const json = JSON.parse(JSON.stringify(run)) as SentRun;
    sent.set(run.id, { ...sent.get(run.id), ...json });
    return Promise.resolve();
  };
  const client = new Client({ apiUrl: "http://localhost:1", apiKey: "none" });
  client.createRun = (run) => merge(run as SentRun);
  client.updateRun = (id, run) => merge({ ...run, id });
  return { client, sent };
}

class CountingModel extends FakeListChatModel {
  override _generate(): Promise<ChatResult> {
    const data = {
      content: "hi",
      role: "ai",
      name: undefined,
      tool_call_id: undefined,
      usage_metadata: {
        input_tokens: 20,
        output_tokens: 10,
        total_tokens: 30,
        input_token_details: { cache_read: 5 },
        output_token_details: { reasoning: 4 },
      },
    };
    const message = mapStoredMessageToChatMessage({ type: "ai", data });
    return Promise.resolve({ generations: [{ text: "hi", message }] });
  }
}

describe("a run of the official clients", () => {
  test("has the usage of a LangChain chat model", async ({ expect }) => {
    const { client, sent } = recordingClient();
    const tracer = new LangChainTracer({ client, projectName: "p" });
    await new CountingModel({ responses: [] }).invoke([new HumanMessage("hello")], {
      callbacks: [tracer],
    });
    const [run] = sent.values();
    const usage = {
      input_tokens: 20,
      output_tokens: 10,
      total_tokens: 30,
      input_token_details: { cache_read: 5 },
      output_token_details: { reasoning: 4 },
    };
    expect(usageOf(run?.outputs)).toEqual({ explicit: false, ...usage });
    expect(usageOfExtra(run?.extra)).toEqual({ explicit: true, ...usage });
  });

  test("has the usage of a wrapped OpenAI client", async ({ expect }) => {
    const { client, sent } = recordingClient();
    const answer = {
      id: "chatcmpl-1",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" } }],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 10,
        total_tokens: 30,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    };
    const openai = {
      chat: { completions: { create: () => Promise.resolve(answer) } },
      completions: { create: () => Promise.resolve(answer) },
    };
    const wrapped = wrapOpenAI(openai as never, { client, tracingEnabled: true }) as typeof openai;
    const create = wrapped.chat.completions.create as (body: object) => Promise<unknown>;
    await create({ model: "gpt-4o-mini", messages: [] });
    const [run] = sent.values();
    expect(usageOf(run?.outputs)).toEqual({
      explicit: true,
      input_tokens: 20,
      output_tokens: 10,
      total_tokens: 30,
      input_token_details: { cache_read: 5 },
      output_token_details: { reasoning: 4 },
    });
    expect(modelOf(run?.extra)).toMatchObject({ name: "gpt-4o-mini", provider: "openai" });
  });
});
