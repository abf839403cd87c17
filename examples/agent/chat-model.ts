import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { LocalChatModel } from "./local-chat-model.ts";

const DEFAULT_OPENAI_MODEL = "gpt-4.1-mini";

/** Returns an OpenAI-compatible model when the environment has a key for one, otherwise the local model. */
export async function createChatModel(options: { tokenDelayMs: number }): Promise<BaseChatModel> {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = process.env;
  if (!OPENAI_API_KEY) return new LocalChatModel(options);
  const { ChatOpenAI } = await import("@langchain/openai");
  return new ChatOpenAI({
    apiKey: OPENAI_API_KEY,
    model: OPENAI_MODEL || DEFAULT_OPENAI_MODEL,
    ...(OPENAI_BASE_URL ? { configuration: { baseURL: OPENAI_BASE_URL } } : {}),
  });
}
