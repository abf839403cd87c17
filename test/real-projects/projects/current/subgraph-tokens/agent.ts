// A compiled graph as a node of another one, on two levels: the model's tokens come from the innermost graph.
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({ model: "gpt-4.1" });

const writer = new StateGraph(MessagesAnnotation)
  .addNode("write", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge("__start__", "write")
  .compile();

const team = new StateGraph(MessagesAnnotation)
  .addNode("writer", writer)
  .addEdge("__start__", "writer")
  .compile();

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("team", team)
  .addEdge("__start__", "team")
  .compile();
