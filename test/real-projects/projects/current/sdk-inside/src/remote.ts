// A graph that calls another graph of its deployment like a local one, in a separate thread.
import { StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { Client } from "@langchain/langgraph-sdk";
import { State } from "./worker.js";

const client = new Client();
const worker = new RemoteGraph({ graphId: "worker" });

async function ask({ task }: typeof State.State) {
  const { thread_id } = await client.threads.create();
  const config = { configurable: { thread_id } };
  const { result } = await worker.invoke({ task }, config);
  const { values } = await worker.getState(config);
  return { result: `remotely ${result}, ${values.task} known` };
}

export const graph = new StateGraph(State)
  .addNode("ask", ask)
  .addEdge("__start__", "ask")
  .compile();
