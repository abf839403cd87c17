// A graph of the same deployment as a node, as if it were a local one.
import { StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { State } from "./worker.js";

const worker = new RemoteGraph({ graphId: "worker" });

async function ask({ task }: typeof State.State) {
  const { result } = await worker.invoke({ task });
  return { result: `remotely ${result}` };
}

export const graph = new StateGraph(State)
  .addNode("ask", ask)
  .addEdge("__start__", "ask")
  .compile();
