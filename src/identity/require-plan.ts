import { isAtLeast, type Plan, plansFrom } from "../lib/plan-order.ts";
import type { AppContext } from "../http/app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import { workspacePlan } from "./workspace-plan.ts";

/**
 * Throws a 403 unless the request's workspace has the needed plan or a higher one. `what` begins the
 * text, such as "Bulk export".
 */
export async function requirePlan(c: AppContext, needed: Plan, what: string): Promise<void> {
  const plan = await workspacePlan(c.env, c.var.scope.workspaceId);
  if (!isAtLeast(plan, needed)) throw new ApiError("forbidden", needsPlan(needed, what));
}

/** The sentence that says which plans something needs. */
export function needsPlan(needed: Plan, what: string): string {
  return `${what} needs the ${plansFrom(needed)}`;
}
