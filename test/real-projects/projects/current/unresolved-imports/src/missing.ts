// A package that the project imports but has not installed.
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { search } from "@acme/search-client/v2";

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("search", async () => ({ messages: [await search()] }))
  .addEdge("__start__", "search")
  .compile();
