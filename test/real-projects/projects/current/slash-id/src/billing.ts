import { Annotation, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ invoice: Annotation<string>, answer: Annotation<string> });

export const graph = new StateGraph(State)
  .addNode("look", ({ invoice }) => ({ answer: `${invoice} is paid` }))
  .addEdge("__start__", "look")
  .compile();
