import { createAgent } from "langchain";
import { LocalChatModel } from "../agent/local-chat-model.ts";
import { tools } from "../agent/tools.ts";

/** With a MODEL such as "openai:gpt-4.1-mini", and that provider's key, it is answered by that model. */
export const agent = createAgent({
  model: process.env["MODEL"] ?? new LocalChatModel({}),
  tools,
  systemPrompt: "You are a helpful assistant. Use the tools rather than guess.",
});
