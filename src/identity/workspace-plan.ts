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

/** Milliseconds for which a plan from the other region counts as current. */
const FRESH_MS = 60_000;

/**
 * Milliseconds after a failed call during which this isolate makes no further call, for any workspace. When the
 * billing region is down, a sweep of many workspaces then waits for one time-out, not for one each.
 */
const RETRY_MS = 10_000;

const MAX_REMEMBERED = 10_000;

/** Plans cached by workspace, so that not every request waits for D1. */
const remembered = isolateCache<string, { plan: Plan; until: number }>({
  maxEntries: MAX_REMEMBERED,
});

let unreachableUntil = 0;

/**
 * Returns the plan of a workspace: in the US region the billed one, in the other region what the US region has
 * answered, cached for up to a minute. While the US region cannot be reached, its last answer is valid for
 * PLAN_GRACE_SECONDS. After that, or without any answer, this returns the lowest plan.
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
