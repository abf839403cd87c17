// A graph in the style of LangGraph 0.x: annotations, a loop over tools, and a question to a person.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  interrupt,
  messagesStateReducer,
  START,
  StateGraph,
} from "@langchain/langgraph";

const State = Annotation.Root({
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
  rounds: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
});

function ask({ messages }: typeof State.State) {
  const name = interrupt(`${messages.length} messages; who is there?`);
  return { messages: [new AIMessage(`Hello, ${name}`)], rounds: 1 };
}

export const graph = new StateGraph(State)
  .addNode("ask", ask)
  .addEdge(START, "ask")
  .addConditionalEdges("ask", ({ rounds }) => (rounds < 2 ? "ask" : END))
  .compile();
