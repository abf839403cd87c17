import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { askForReview, type Refund } from "./review.ts";

const DEFAULT_AMOUNT = 10;

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  proposal: Annotation<Refund | null>,
  receipt: Annotation<string | null>,
});

/** Reads the order and the amount from the customer's text, as a model would. */
function propose({ messages }: typeof State.State): typeof State.Update {
  const request = messages.findLast((message) => HumanMessage.isInstance(message))?.text ?? "";
  const order = /\border\s+#?(\w+)/i.exec(request)?.[1] ?? "unknown";
  const amount = /(?:[$€£]\s*|\bfor\s+)(\d+(?:\.\d+)?)/i.exec(request)?.[1];
  const proposal = {
    order_id: order,
    amount: amount === undefined ? DEFAULT_AMOUNT : Number(amount),
    reason: request,
  };
  return {
    proposal,
    receipt: null,
    messages: [
      new AIMessage(
        `I propose to refund ${proposal.amount} for order ${order}. A human has to agree.`,
      ),
    ],
  };
}

function review({ proposal }: typeof State.State): Command {
  if (proposal === null) throw new Error("There is no proposal to review");
  const decision = askForReview(proposal);
  if (decision.approved) {
    return new Command({ goto: "execute", update: { proposal: decision.refund } });
  }
  const text = `The refund was not approved: ${decision.message}.`;
  return new Command({ goto: END, update: { proposal: null, messages: [new AIMessage(text)] } });
}

/** Stands for the call that moves the money. It runs after the approval has been stored. */
function execute({ proposal }: typeof State.State): typeof State.Update {
  if (proposal === null) throw new Error("There is no approved refund");
  const receipt = `refund-${proposal.order_id}-${proposal.amount}`;
  const text = `Refunded ${proposal.amount} for order ${proposal.order_id}. Receipt: ${receipt}.`;
  return { receipt, messages: [new AIMessage(text)] };
}

export const graph = new StateGraph(State)
  .addNode("propose", propose)
  .addNode("review", review, { ends: ["execute", END] })
  .addNode("execute", execute)
  .addEdge(START, "propose")
  .addEdge("propose", "review")
  .addEdge("execute", END)
  .compile();
