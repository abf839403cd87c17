import {
  Annotation,
  DeltaChannel,
  END,
  MemorySaver,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, test } from "vitest";
import { PassingCheckpointer } from "../../../src/graph-runtime/passing-checkpointer.ts";

const AT = { configurable: { thread_id: "t" } };

describe("the checkpointer of a run that stores nothing", () => {
  test("keeps only the newest checkpoint", async ({ expect }) => {
    const State = Annotation.Root({ count: Annotation<number> });
    const saver = new PassingCheckpointer();
    const graph = new StateGraph(State)
      .addNode("next", ({ count }) => ({ count: count + 1 }))
      .addEdge(START, "next")
      .addConditionalEdges("next", ({ count }) => (count < 20 ? "next" : END))
      .compile({ checkpointer: saver });
    expect(await graph.invoke({ count: 0 }, AT)).toEqual({ count: 20 });
    expect(Object.keys(saver.storage["t"]?.[""] ?? {})).toHaveLength(1);
    expect(Object.keys(saver.writes).length).toBeLessThanOrEqual(1);
    expect((await graph.getState(AT)).values).toEqual({ count: 20 });
  });

  test.for([
    ["LangGraph's own", () => new MemorySaver()],
    ["this one", () => new PassingCheckpointer()],
  ] as const)(
    "keeps the parts that a channel consists of, with %s",
    async ([, make], { expect }) => {
      const list = () =>
        new DeltaChannel<string[], string[]>((before: string[], writes: string[][]) => [
          ...before,
          ...writes.flat(),
        ]);
      const State = Annotation.Root({ list });
      const graph = new StateGraph(State)
        .addNode("a", () => ({ list: ["a"] }))
        .addNode("b", () => ({ list: ["b"] }))
        .addEdge(START, "a")
        .addEdge("a", "b")
        .compile({ checkpointer: make() });
      await graph.invoke({ list: ["in"] }, AT);
      expect((await graph.getState(AT)).values).toEqual({ list: ["in", "a", "b"] });
    },
  );
});
