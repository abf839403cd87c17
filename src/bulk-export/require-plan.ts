import type { Plan } from "../db/schema.ts";
import { selectPlan } from "../db/workspaces-repo.ts";
import type { AppContext } from "../http/app-types.ts";
import { ApiError } from "../http/errors.ts";

const PLANS_WITH_EXPORT: ReadonlySet<Plan> = new Set(["plus", "enterprise"]);

/** For what creates or changes exports; reading is free, also after a change of the plan. */
export async function requireExportPlan(c: AppContext): Promise<void> {
  const plan = await selectPlan(c.env.DB, c.var.scope.workspaceId);
  if (plan !== undefined && PLANS_WITH_EXPORT.has(plan)) return;
  throw new ApiError("forbidden", "Bulk export needs the plan Plus or Enterprise");
}
