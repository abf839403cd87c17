// Graphs that are named after the teams that own them, and variables of the environment.
import { Annotation, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ question: Annotation<string>, desk: Annotation<string> });

export const graph = new StateGraph(State)
  .addNode("triage", ({ question }) => ({
    desk: question.includes("invoice") ? process.env.BILLING_DESK : process.env.SUPPORT_DESK,
  }))
  .addEdge("__start__", "triage")
  .compile();
