import { Annotation, StateGraph } from "@langchain/langgraph";

export const State = Annotation.Root({ task: Annotation<string>, result: Annotation<string> });

export const graph = new StateGraph(State)
  .addNode("work", ({ task }) => ({ result: `${task}: done` }))
  .addEdge("__start__", "work")
  .compile();
