import { z } from "zod";
import { LOWEST_PLAN, type Plan, PLANS } from "../lib/plan-order.ts";
import { BILLING_PATH, BILLING_REGION } from "../lib/region.ts";
import type { Settings } from "../env.ts";
import { isSignedCall, signCall } from "../secrets/signed-call.ts";
import { selectBillingPlan } from "../db/workspace-plans-repo.ts";
import { ApiError } from "../lib/api-error.ts";
import { createRouter } from "../http/router.ts";

const TIMEOUT_MS = 3_000;

const answerSchema = z.object({ workspace_id: z.string(), plan: z.enum(PLANS) });

type PlanAnswer = z.infer<typeof answerSchema>;

/** Asks the region that has the billing rows for the plan of a workspace. Throws when it does not answer. */
export async function askForPlan(
  { billingUrl, regionSecret }: Pick<Settings, "billingUrl" | "regionSecret">,
  workspaceId: string,
): Promise<Plan> {
  if (billingUrl === null) throw new Error("BILLING_URL is not set");
  const url = new URL(`${BILLING_PATH}/${encodeURIComponent(workspaceId)}`, billingUrl).href;
  const response = await fetch(url, {
    headers: await signCall(regionSecret, { method: "GET", url }, Date.now()),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    // Redirects are not followed, so that no other host receives the signature.
    redirect: "manual",
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`The billing region answered ${response.status}`);
  }
  const { workspace_id, plan } = answerSchema.parse(await response.json());
  if (workspace_id !== workspaceId)
    throw new Error("The billing region answered for another workspace");
  return plan;
}

/**
 * Answers the other region. These routes are not for clients: no API document lists them, and they require a
 * signature.
 */
export const planRoutes = createRouter();

planRoutes.get("/internal/plans/:workspace_id", async (c) => {
  const { region, regionSecret } = c.var.settings;
  if (region !== BILLING_REGION) throw new ApiError("not_found", "Not Found");
  const { method, url, headers } = c.req.raw;
  if (!(await isSignedCall(regionSecret, { method, url }, headers, Date.now()))) {
    throw new ApiError("unauthorized", "The call is not signed by another region");
  }
  const workspace_id = c.req.param("workspace_id");
  const plan = (await selectBillingPlan(c.env.DB, workspace_id)) ?? LOWEST_PLAN;
  c.header("cache-control", "no-store");
  return c.json({ workspace_id, plan } satisfies PlanAnswer);
});
