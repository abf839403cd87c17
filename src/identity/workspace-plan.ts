import {
  type KnownPlanRow,
  selectBillingPlan,
  selectKnownPlan,
  storeKnownPlan,
} from "../db/workspace-plans-repo.ts";
import { LOWEST_PLAN, type Plan } from "../lib/plan-order.ts";
import { parseSettings, type Settings } from "../env.ts";
import { isolateCache } from "../lib/isolate-cache.ts";
import { log } from "../lib/log.ts";
import { BILLING_REGION } from "../lib/region.ts";
import { askForPlan } from "./billing-call.ts";

/** How long a plan from the other region is taken for the present one. */
const FRESH_MS = 60_000;

/**
 * How long after a call in vain this isolate makes no other, for whatever workspace: a region that is
 * down costs the sweep of many workspaces one time limit, not one for each.
 */
const RETRY_MS = 10_000;

const MAX_REMEMBERED = 10_000;

/** The plans that this isolate remembers by workspace, so that a request need not wait for D1 each time. */
const remembered = isolateCache<string, { plan: Plan; until: number }>({
  maxEntries: MAX_REMEMBERED,
});

let unreachableUntil = 0;

/**
 * The plan of a workspace: in the US region what is billed; in the other what the US region said, for
 * up to a minute. While that cannot be asked, it is what it said last, for PLAN_GRACE_SECONDS; after
 * that, and for whom it never spoke of, the lowest plan.
 */
export async function workspacePlan(
  env: Env,
  workspaceId: string,
  now = Date.now(),
): Promise<Plan> {
  const settings = parseSettings(env);
  if (settings.region === BILLING_REGION) {
    return (await selectBillingPlan(env.DB, workspaceId)) ?? LOWEST_PLAN;
  }
  const memory = remembered.get(workspaceId);
  if (memory !== undefined && now < memory.until) return memory.plan;
  const known = await selectKnownPlan(env.DB, workspaceId);
  if (known !== undefined && now - known.read_at < FRESH_MS) {
    return remember(workspaceId, known.plan, known.read_at + FRESH_MS);
  }
  if (now < unreachableUntil) return planWithoutAnswer(known, settings, now);
  try {
    const plan = await askForPlan(settings, workspaceId);
    await storeKnownPlan(env.DB, { workspace_id: workspaceId, plan, read_at: now });
    return remember(workspaceId, plan, now + FRESH_MS);
  } catch (error) {
    unreachableUntil = now + RETRY_MS;
    const plan = planWithoutAnswer(known, settings, now);
    log(settings.logLevel, "error", {
      event: "plan_not_read",
      workspace: workspaceId,
      plan,
      known_since: known?.read_at,
      error: String(error),
    });
    return plan;
  }
}

function planWithoutAnswer(
  known: KnownPlanRow | undefined,
  { planGraceMs }: Settings,
  now: number,
): Plan {
  return known !== undefined && now - known.read_at <= planGraceMs ? known.plan : LOWEST_PLAN;
}

function remember(workspaceId: string, plan: Plan, until: number): Plan {
  remembered.set(workspaceId, { plan, until });
  return plan;
}
