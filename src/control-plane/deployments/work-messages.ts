import { z } from "zod";
import { nudge } from "../../work/queue.ts";

const key = { workspace_id: z.string(), deployment_id: z.string() };

/** Names a revision to roll out or a deployment to delete. D1 says what there is to do. */
export const workMessage = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("roll_out"), ...key, revision_id: z.string() }),
  z.object({ kind: z.literal("delete"), ...key }),
]);

export type WorkMessage = z.infer<typeof workMessage>;

/**
 * Sends messages that request work on revisions and deployments. Never rejects: the sweep finds rows whose message
 * was lost.
 */
export function requestWork(
  env: Pick<Env, "ROLLOUTS" | "LOG_LEVEL">,
  messages: readonly WorkMessage[],
  delayMs = 0,
): Promise<void> {
  return nudge(env, env.ROLLOUTS, messages, delayMs);
}
