import { z } from "zod";
import { deleteDeployment } from "../delete-deployment.ts";
import { requestRollout } from "./request-rollout.ts";
import { rollOut } from "./roll-out.ts";

const key = { workspace_id: z.string(), deployment_id: z.string() };

const messageSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("roll_out"), ...key, revision_id: z.string() }),
  z.object({ kind: z.literal("delete"), ...key }),
]);

/** Each message names something to look at; one that asks for nothing is harmless. */
export async function consumeRollouts(
  batch: MessageBatch,
  env: Env,
  exports: Cloudflare.Exports,
): Promise<void> {
  for (const message of batch.messages) {
    const parsed = messageSchema.safeParse(message.body);
    if (parsed.success) await handle(parsed.data, env, exports);
    message.ack();
  }
}

async function handle(
  message: z.infer<typeof messageSchema>,
  env: Env,
  exports: Cloudflare.Exports,
): Promise<void> {
  const of = { workspaceId: message.workspace_id, deploymentId: message.deployment_id };
  if (message.kind === "delete") {
    if (!(await deleteDeployment(env, of))) await requestRollout(env, message);
    return;
  }
  const dueAt = await rollOut(env, exports, { ...of, revisionId: message.revision_id });
  if (dueAt !== null) await requestRollout(env, message, dueAt - Date.now());
}
