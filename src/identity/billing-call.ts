import { z } from "zod";
import { PLANS, type Plan } from "../lib/plan-order.ts";
import { BILLING_PATH } from "../lib/region.ts";
import type { Settings } from "../env.ts";
import { signCall } from "../secrets/signed-call.ts";

const TIMEOUT_MS = 3_000;

const answerSchema = z.object({ workspace_id: z.string(), plan: z.enum(PLANS) });

export type PlanAnswer = z.infer<typeof answerSchema>;

/** The plan of a workspace, from the region that has the billing rows. Throws when it cannot be had. */
export async function askForPlan(
  { billingUrl, regionSecret }: Pick<Settings, "billingUrl" | "regionSecret">,
  workspaceId: string,
): Promise<Plan> {
  if (billingUrl === null) throw new Error("BILLING_URL is not set");
  const url = new URL(`${BILLING_PATH}/${encodeURIComponent(workspaceId)}`, billingUrl).href;
  const response = await fetch(url, {
    headers: await signCall(regionSecret, { method: "GET", url }, Date.now()),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    // The signature is for nobody else.
    redirect: "manual",
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`The billing region answered ${response.status}`);
  }
  const { workspace_id, plan } = answerSchema.parse(await response.json());
  if (workspace_id !== workspaceId) throw new Error("The billing region answered for another");
  return plan;
}
