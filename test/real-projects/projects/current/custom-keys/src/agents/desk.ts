// A configuration with the keys of other tools, a path without "./", path aliases, and dotenv.
import "dotenv/config";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { signature } from "@/lib/signature.js";

const State = Annotation.Root({ text: Annotation<string>, signed: Annotation<string> });

export const graph = new StateGraph(State)
  .addNode("sign", ({ text }) => ({ signed: `${text} ${signature()}` }))
  .addEdge("__start__", "sign")
  .compile();
