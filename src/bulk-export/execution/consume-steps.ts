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
      log(parseSettings(env).logLevel, "error", {
        event: "export_step_failed",
        run_id: key.data?.runId,
        error: String(error),
      });
      message.retry();
    }
  }
}
