// A graph that runs another graph of its deployment with the SDK's client, which needs no URL there.
import { StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { State } from "./worker.js";

const client = new Client();

async function dispatch({ task }: typeof State.State) {
  const { thread_id } = await client.threads.create({ metadata: { dispatched: true } });
  await client.runs.wait(thread_id, "worker", { input: { task } });
  const { values } = await client.threads.getState<typeof State.State>(thread_id);
  return { result: `dispatched ${values.result}` };
}

export const graph = new StateGraph(State)
  .addNode("dispatch", dispatch)
  .addEdge("__start__", "dispatch")
  .compile();
