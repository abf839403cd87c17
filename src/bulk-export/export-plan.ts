import { needsPlan } from "../identity/require-plan.ts";
import { ApiError } from "../lib/api-error.ts";
import { isAtLeast, type Plan } from "../lib/plan-order.ts";

const NEEDED: Plan = "plus";

/** Returns why a plan allows no new exports; null when it allows them. */
export function exportRefusal(plan: Plan): string | null {
  return isAtLeast(plan, NEEDED) ? null : needsPlan(NEEDED, "Bulk export");
}

/** Throws a 403 when the plan does not allow creating or changing exports. Reading is allowed by every plan. */
export function requireExportPlan(plan: Plan): void {
  const refusal = exportRefusal(plan);
  if (refusal !== null) throw new ApiError("forbidden", refusal);
}
