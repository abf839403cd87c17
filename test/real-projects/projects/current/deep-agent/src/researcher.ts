// A deep agent as in the first example of its guide: a model by name, a tool, a subagent, files in the state.
import { createDeepAgent, StateBackend } from "deepagents";
import { tool } from "langchain";
import { z } from "zod";

const internetSearch = tool(({ query }) => `Nothing is known about ${query}.`, {
  name: "internet_search",
  description: "Search the internet.",
  schema: z.object({ query: z.string() }),
});

export const agent = createDeepAgent({
  model: "anthropic:claude-sonnet-4-5",
  tools: [internetSearch],
  systemPrompt: "You lead a team of researchers.",
  backend: (runtime) => new StateBackend(runtime),
  subagents: [
    {
      name: "searcher",
      description: "Searches the internet for one thing.",
      systemPrompt: "You search.",
      tools: [internetSearch],
    },
  ],
});
