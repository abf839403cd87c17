import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { billingPlans } from "./billing-schema.ts";
import type { Plan } from "../lib/plan-order.ts";

/** Undefined when nothing is billed for the workspace. To be asked in the US region only. */
export async function selectBillingPlan(
  db: D1Database,
  workspaceId: string,
): Promise<Plan | undefined> {
  const row = await drizzle(db)
    .select({ plan: billingPlans.plan })
    .from(billingPlans)
    .where(eq(billingPlans.workspace_id, workspaceId))
    .get();
  return row?.plan;
}
