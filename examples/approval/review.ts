import { interrupt } from "@langchain/langgraph";
import { z } from "zod";

export const RefundSchema = z.object({
  order_id: z.string().min(1),
  // Review forms send edited fields as text.
  amount: z.coerce.number().positive(),
  reason: z.string(),
});
export type Refund = z.infer<typeof RefundSchema>;

const DecisionSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("approve") }),
  z.object({
    type: z.literal("edit"),
    edited_action: z.object({ name: z.literal("refund"), args: RefundSchema }),
  }),
  z.object({ type: z.literal("reject"), message: z.string().optional() }),
]);

const ResumeSchema = z.object({ decisions: z.tuple([DecisionSchema]) });

export type Review = { approved: true; refund: Refund } | { approved: false; message: string };

/**
 * Stops the run until a human has decided. When the answer is not valid, asks again, so that a mistake of the
 * caller never executes anything. The request has the form from which Agent Chat UI and Agent Inbox build a
 * form.
 */
export function askForReview(refund: Refund): Review {
  let problem: string | undefined;
  for (;;) {
    const resumed = ResumeSchema.safeParse(interrupt(reviewRequest(refund, problem)));
    if (!resumed.success) {
      problem = z.prettifyError(resumed.error);
      continue;
    }
    const [decision] = resumed.data.decisions;
    switch (decision.type) {
      case "approve":
        return { approved: true, refund };
      case "edit":
        return { approved: true, refund: decision.edited_action.args };
      case "reject":
        return { approved: false, message: decision.message ?? "no reason given" };
    }
  }
}

function reviewRequest(refund: Refund, problem: string | undefined) {
  const question = `Refund ${refund.amount} for order ${refund.order_id}?`;
  return {
    action_requests: [
      {
        name: "refund",
        args: refund,
        description:
          problem === undefined
            ? question
            : `${question} The last answer was not usable: ${problem}`,
      },
    ],
    review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "edit", "reject"] }],
  };
}
