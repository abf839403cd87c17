import { needsPlan } from "../identity/require-plan.ts";
import { ApiError } from "../lib/api-error.ts";
import { isAtLeast, type Plan } from "../lib/plan-order.ts";

const NEEDED: Plan = "plus";

/** Why nothing new may be exported under a plan; null when it may. */
export function exportRefusal(plan: Plan): string | null {
  return isAtLeast(plan, NEEDED) ? null : needsPlan(NEEDED, "Bulk export");
}

/** It throws a 403 for what creates or changes exports; reading is free, also after a change of the plan. */
export function requireExportPlan(plan: Plan): void {
  const refusal = exportRefusal(plan);
  if (refusal !== null) throw new ApiError("forbidden", refusal);
}
