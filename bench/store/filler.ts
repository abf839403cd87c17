import { Annotation, END, type Runtime, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ from: Annotation<number>, count: Annotation<number> });

/** Puts `count` numbered items into the store at once. */
async function fill({ from, count }: typeof State.State, { store }: Runtime): Promise<object> {
  if (store === undefined) throw new Error("The run has no store");
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  await Promise.all(
    numbers.map((number) => store.put(["many"], `${number}`, { text: `${number}` })),
  );
  return {};
}

export const graph = new StateGraph(State)
  .addNode("fill", fill)
  .addEdge(START, "fill")
  .addEdge("fill", END)
  .compile();
