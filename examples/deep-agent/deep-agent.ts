import { createDeepAgent } from "deepagents";
import { LocalChatModel } from "../agent/local-chat-model.ts";
import { tools } from "../agent/tools.ts";

/**
 * The model that MODEL names, such as "anthropic:claude-sonnet-4-5", with that provider's key; otherwise the
 * local model.
 */
const model = process.env["MODEL"] ?? new LocalChatModel({});

/** The agent's files are in the state of the thread. */
export const agent = createDeepAgent({
  model,
  tools,
  systemPrompt: "You plan what you are asked, and write down what you find in files.",
  subagents: [
    {
      name: "calculator",
      description: "Calculates; give it one expression.",
      systemPrompt:
        "You evaluate one arithmetic expression with your tool, and answer with the number.",
      tools: tools.filter(({ name }) => name === "calculator"),
    },
  ],
});
