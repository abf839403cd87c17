// An agent on the Responses API, with middleware and a structured answer.
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, createMiddleware, toolStrategy } from "langchain";
import { z } from "zod";

const countCalls = createMiddleware({
  name: "CountCalls",
  stateSchema: z.object({ modelCalls: z.number().default(0) }),
  afterModel: (state) => ({ modelCalls: state.modelCalls + 1 }),
});

const report = z.object({ city: z.string(), celsius: z.number() });

export const reporter = createAgent({
  model: new ChatOpenAI({ model: "gpt-5", useResponsesApi: true }),
  tools: [],
  middleware: [countCalls],
  responseFormat: toolStrategy(report),
});
