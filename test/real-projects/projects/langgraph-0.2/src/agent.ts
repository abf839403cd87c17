// The prebuilt agent of LangGraph 0.x, compiled with its own checkpointer.
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const getWeather = tool(async ({ city }) => `It is always sunny in ${city}.`, {
  name: "get_weather",
  description: "The weather in a city.",
  schema: z.object({ city: z.string() }),
});

export const agent = createReactAgent({
  llm: new ChatOpenAI({ model: "gpt-4o-mini", temperature: 0 }),
  tools: [getWeather],
  checkpointSaver: new MemorySaver(),
});
