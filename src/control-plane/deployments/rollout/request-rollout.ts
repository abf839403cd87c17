import { parseSettings } from "../../../env.ts";
import { log } from "../../../lib/log.ts";

/** Says that there is something to do; what it is is in D1. */
export type RolloutMessage =
  | { kind: "roll_out"; workspace_id: string; deployment_id: string; revision_id: string }
  | { kind: "delete"; workspace_id: string; deployment_id: string };

/** Never fails: what no message tells of, the sweep finds. */
export async function requestRollout(
  env: Env,
  message: RolloutMessage,
  delayMs = 0,
): Promise<void> {
  try {
    await env.ROLLOUTS.send(message, { delaySeconds: Math.max(Math.ceil(delayMs / 1000), 0) });
  } catch (error) {
    const { logLevel } = parseSettings(env);
    log(logLevel, "warn", { event: "rollout_message_lost", ...message, error: String(error) });
  }
}
