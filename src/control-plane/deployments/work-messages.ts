import { z } from "zod";
import { nudge } from "../../work/queue.ts";

const key = { workspace_id: z.string(), deployment_id: z.string() };

/** Names a revision to be rolled out, or a deployment to be deleted; what is to be done is in D1. */
export const workMessage = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("roll_out"), ...key, revision_id: z.string() }),
  z.object({ kind: z.literal("delete"), ...key }),
]);

export type WorkMessage = z.infer<typeof workMessage>;

/** Asks for work on revisions and deployments. It never fails: what no message tells of, the sweep finds. */
export function requestWork(
  env: Pick<Env, "ROLLOUTS" | "LOG_LEVEL">,
  messages: readonly WorkMessage[],
  delayMs = 0,
): Promise<void> {
  return nudge(env, env.ROLLOUTS, messages, delayMs);
}
