import {
  insertBillingPlanOnce,
  listBillingPlans,
  upsertBillingPlan,
} from "../../src/db/tools/billing-plans.ts";
import { LOWEST_PLAN } from "../../src/lib/plan-order.ts";
import type { Region } from "../../src/lib/region.ts";
import { CliError } from "../cli-error.ts";
import type { Database } from "./database.ts";

/** Returns the plans of a region's workspaces by workspace id; null when the plans cannot be reached from here. */
export async function plansOf(database: Database): Promise<Map<string, string> | null> {
  const billing = billingOf(database);
  if (billing === null) return null;
  return listBillingPlans(billing, regionOf(database));
}

/** Stores a workspace's plan. The lowest plan needs no row, so it can be set even where plans cannot be reached. */
export async function storePlan(
  database: Database,
  workspaceId: string,
  plan: string,
): Promise<void> {
  const billing = billingOf(database);
  if (billing === null) {
    if (plan === LOWEST_PLAN) return;
    throw new CliError(
      "plans are kept in the US region: name the state of its platform with --billing-state",
    );
  }
  const region = regionOf(database);
  await upsertBillingPlan(billing, { workspaceId, region, plan, now: Date.now() });
}

/**
 * Gives a workspace without a plan the plan enterprise, so that everything can be tried. Does nothing outside
 * the US region when the plans cannot be reached.
 */
export async function ensureLocalPlan(database: Database, workspaceId: string): Promise<void> {
  const billing = billingOf(database);
  if (billing === null) return;
  const region = regionOf(database);
  const now = Date.now();
  await insertBillingPlanOnce(billing, { workspaceId, region, plan: "enterprise", now });
}

function billingOf(database: Database): Database | null {
  return regionOf(database) === "us" ? database : (database.billing ?? null);
}

function regionOf({ region = "us" }: Database): Region {
  return region;
}
