// A graph whose module cannot be loaded; the graphs beside it are served all the same.
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";

if (process.env.CRM_TOKEN === undefined) throw new Error("CRM_TOKEN is not set");

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", () => ({ messages: [] }))
  .addEdge("__start__", "answer")
  .compile();
