import { createAgent, FakeToolCallingModel, tool } from "langchain";
import { z } from "zod";

const getWeather = tool(({ city }) => `It is always sunny in ${city}!`, {
  name: "get_weather",
  description: "Get the weather of a city",
  schema: z.object({ city: z.string() }),
});

/** Replies when there is no key for a model: it calls the tool, and repeats the messages that it received. */
const standIn = new FakeToolCallingModel({
  toolCalls: [[{ name: "get_weather", args: { city: "Oslo" }, id: "call_1" }], []],
});

export const agent = createAgent({
  model: process.env["OPENAI_API_KEY"] ? "openai:gpt-4.1-mini" : standIn,
  tools: [getWeather],
  systemPrompt: "You are a helpful assistant. Use the tools rather than guess.",
});
