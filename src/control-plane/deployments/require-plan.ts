import type { Source } from "../../db/deployments-schema.ts";
import type { AppContext } from "../../http/app-types.ts";
import { requirePlan } from "../../identity/require-plan.ts";

/** For what deploys a project of the workspace's own; templates are for every plan. */
export async function requireSourcePlan(c: AppContext, source: Source): Promise<void> {
  if (source === "internal_template") return;
  const what =
    "Deployments of own projects are not enabled for this workspace: source internal_source";
  await requirePlan(c, "plus", what);
}
