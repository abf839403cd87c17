import { isAtLeast, type Plan } from "../lib/plan-order.ts";
import type { AppContext } from "../http/app-types.ts";
import { needsPlan, requirePlan } from "../identity/require-plan.ts";

const NEEDED: Plan = "plus";
const WHAT = "Bulk export";

/** For what creates or changes exports; reading is free, also after a change of the plan. */
export async function requireExportPlan(c: AppContext): Promise<void> {
  await requirePlan(c, NEEDED, WHAT);
}

/** Why nothing new may be exported under a plan; null when it may. */
export function exportRefusal(plan: Plan): string | null {
  return isAtLeast(plan, NEEDED) ? null : needsPlan(NEEDED, WHAT);
}
