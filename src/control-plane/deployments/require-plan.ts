import type { Source } from "../../db/deployments-schema.ts";
import type { Plan } from "../../db/schema.ts";
import { selectPlan } from "../../db/workspaces-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../http/errors.ts";

const PLANS_WITH_SOURCE: ReadonlySet<Plan> = new Set(["plus", "enterprise"]);

/** For what deploys a project of the workspace's own; templates are for every plan. */
export async function requireSourcePlan(c: AppContext, source: Source): Promise<void> {
  if (source === "internal_template") return;
  const plan = await selectPlan(c.env.DB, c.var.scope.workspaceId);
  if (plan !== undefined && PLANS_WITH_SOURCE.has(plan)) return;
  throw new ApiError(
    "forbidden",
    "Deployments of own projects are not enabled for this workspace: they need the plan Plus or Enterprise",
  );
}
