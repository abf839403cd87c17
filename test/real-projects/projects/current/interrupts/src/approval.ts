// A graph that stops at `interrupt()` for a person's decision, and continues with the value of `Command`.
import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  draft: Annotation<string>,
  outcome: Annotation<string>,
});

function review({ draft }: typeof State.State) {
  const decision = interrupt<{ question: string; draft: string }, "approve" | { edit: string }>({
    question: "May this be published?",
    draft,
  });
  if (decision === "approve") return new Command({ goto: "publish" });
  return new Command({ update: { draft: decision.edit }, goto: "review" });
}

export const graph = new StateGraph(State)
  .addNode("review", review, { ends: ["review", "publish"] })
  .addNode("publish", ({ draft }) => ({ outcome: `published: ${draft}` }))
  .addEdge(START, "review")
  .addEdge("publish", END)
  .compile();
