import { createAgent } from "langchain";
import { LocalChatModel } from "../agent/local-chat-model.ts";
import { tools } from "../agent/tools.ts";

/**
 * Uses the model that MODEL names, such as "openai:gpt-4.1-mini", with that provider's key; otherwise the
 * local model.
 */
export const agent = createAgent({
  model: process.env["MODEL"] ?? new LocalChatModel({}),
  tools,
  systemPrompt: "You are a helpful assistant. Use the tools rather than guess.",
});
