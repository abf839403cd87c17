// An agent that names its model, as most examples do.
import { createAgent } from "langchain";

export const agent = createAgent({ model: "anthropic:claude-sonnet-4-5", tools: [] });
