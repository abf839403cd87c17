// The first agent of LangChain's guide: `createAgent` with a tool and an instance of a model.
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const getWeather = tool(({ city }) => `It is always sunny in ${city}.`, {
  name: "get_weather",
  description: "The weather in a city.",
  schema: z.object({ city: z.string().describe("The name of the city") }),
});

export const agent = createAgent({
  model: new ChatOpenAI({ model: "gpt-4.1", temperature: 0 }),
  tools: [getWeather],
  systemPrompt: "You tell people about the weather.",
});
