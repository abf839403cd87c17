import { z } from "zod";
import { parseSettings } from "../../env.ts";
import { log } from "../../lib/log.ts";
import { runExportStep } from "./export-step.ts";

const messageSchema = z.object({ workspaceId: z.string(), runId: z.string() });

/** Each message names an export run to look at; one that asks for nothing is harmless. */
export async function consumeExportSteps(batch: MessageBatch, env: Env): Promise<void> {
  for (const message of batch.messages) {
    const key = messageSchema.safeParse(message.body);
    try {
      if (key.success) await runExportStep(env, key.data);
      message.ack();
    } catch (error) {
      const { logLevel, exportLimits } = parseSettings(env);
      log(logLevel, "error", {
        event: "export_step_failed",
        run_id: key.data?.runId,
        error: String(error),
      });
      // The lease, which could not be given back, keeps everybody else away until then.
      message.retry({ delaySeconds: exportLimits.lease_seconds + 1 });
    }
  }
}
