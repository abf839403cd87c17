// LangChain's human-in-the-loop middleware: a tool runs only when a person allows its call.
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import { z } from "zod";

const sendEmail = tool(({ to, subject }) => `Sent "${subject}" to ${to}.`, {
  name: "send_email",
  description: "Send an email.",
  schema: z.object({ to: z.string(), subject: z.string() }),
});

export const agent = createAgent({
  model: new ChatOpenAI({ model: "gpt-4.1" }),
  tools: [sendEmail],
  middleware: [
    humanInTheLoopMiddleware({
      interruptOn: { send_email: { allowedDecisions: ["approve", "edit", "reject"] } },
    }),
  ],
});
