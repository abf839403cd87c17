// A model by its name, which is created when the module is loaded.
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { initChatModel } from "langchain";

const model = await initChatModel("openai:gpt-4.1", { temperature: 0 });

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge("__start__", "answer")
  .compile();
