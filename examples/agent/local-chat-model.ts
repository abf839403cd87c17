import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BaseChatModelParams,
  type BindToolsInput,
  type LangSmithParams,
} from "@langchain/core/language_models/chat_models";
import {
  AIMessageChunk,
  type BaseMessage,
  type StandardMessageStructure,
  type UsageMetadata,
} from "@langchain/core/messages";
import type { ToolCallChunk } from "@langchain/core/messages/tool";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { planReply, type PlannedToolCall, type Reply } from "./local-reply.ts";

const MODEL_NAME = "local-rules-1";
const MODEL_PROVIDER = "local";

type CallOptions = BaseChatModelCallOptions & { tools?: BindToolsInput[] };
type ChunkFields = {
  content: string;
  tool_call_chunks?: ToolCallChunk[];
  usage_metadata?: UsageMetadata;
  response_metadata?: Record<string, unknown>;
};

/**
 * A chat model that follows rules and uses no network: the same conversation always gives the same words, and
 * no key is needed.
 */
export class LocalChatModel extends BaseChatModel<CallOptions> {
  readonly #tokenDelayMs: number;

  constructor(fields: BaseChatModelParams & { tokenDelayMs?: number }) {
    super(fields);
    this.#tokenDelayMs = fields.tokenDelayMs ?? 0;
  }

  static override lc_name(): string {
    return "LocalChatModel";
  }

  override _llmType(): string {
    return MODEL_PROVIDER;
  }

  override getLsParams(options: this["ParsedCallOptions"]): LangSmithParams {
    return {
      ...super.getLsParams(options),
      ls_provider: MODEL_PROVIDER,
      ls_model_name: MODEL_NAME,
      ls_model_type: "chat",
    };
  }

  override bindTools(
    tools: BindToolsInput[],
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, CallOptions> {
    return this.withConfig({ tools });
  }

  override async _generate(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages, options, runManager)) {
      whole = whole === undefined ? chunk : whole.concat(chunk);
    }
    return { generations: whole === undefined ? [] : [whole] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const reply = planReply(messages, new Set((options.tools ?? []).map(toolName)));
    const id = `msg_${crypto.randomUUID()}`;
    for (const fields of replyChunks(reply, countTokens(messages))) {
      await pause(this.#tokenDelayMs, options.signal);
      const message = new AIMessageChunk<StandardMessageStructure>({ ...fields, id });
      const chunk = new ChatGenerationChunk({ message, text: message.text });
      await runManager?.handleLLMNewToken(
        message.text,
        undefined,
        undefined,
        undefined,
        undefined,
        {
          chunk,
        },
      );
      yield chunk;
    }
  }
}

/** Yields one chunk for each word or piece of a tool call, then one with the finish reason and the usage. */
function* replyChunks(reply: Reply, inputTokens: number): Generator<ChunkFields> {
  let outputTokens = 0;
  for (const word of reply.text.match(/\S+\s*/g) ?? []) {
    outputTokens += 1;
    yield { content: word };
  }
  for (const [index, call] of reply.toolCalls.entries()) {
    for (const fields of toolCallChunks(call, index)) {
      outputTokens += 1;
      yield fields;
    }
  }
  const usage: UsageMetadata = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  yield {
    content: "",
    usage_metadata: usage,
    response_metadata: {
      model_name: MODEL_NAME,
      model_provider: MODEL_PROVIDER,
      finish_reason: reply.toolCalls.length > 0 ? "tool_calls" : "stop",
    },
  };
}

function* toolCallChunks(call: PlannedToolCall, index: number): Generator<ChunkFields> {
  const type = "tool_call_chunk" as const;
  const id = `call_${crypto.randomUUID()}`;
  yield { content: "", tool_call_chunks: [{ type, index, id, name: call.name, args: "" }] };
  for (const args of JSON.stringify(call.args).match(/.{1,12}/gs) ?? []) {
    yield { content: "", tool_call_chunks: [{ type, index, args }] };
  }
}

function toolName(tool: BindToolsInput): string {
  if ("name" in tool && typeof tool.name === "string") return tool.name;
  throw new TypeError("LocalChatModel takes LangChain tools only");
}

function countTokens(messages: BaseMessage[]): number {
  return messages.reduce((sum, { text }) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  signal?.throwIfAborted();
}
