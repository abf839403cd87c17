import { selectBillingPlan } from "../db/workspace-plans-repo.ts";
import { ApiError } from "../lib/api-error.ts";
import { createRouter } from "../http/router.ts";
import { LOWEST_PLAN } from "../lib/plan-order.ts";
import { BILLING_REGION } from "../lib/region.ts";
import { type PlanAnswer } from "./billing-call.ts";
import { isSignedCall } from "../secrets/signed-call.ts";

/** What the other region asks. Not for clients: it is in no document, and needs a signature. */
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
