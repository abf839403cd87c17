import { eq, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { billingPlans, knownPlans } from "./schema.ts";
import type { Plan } from "../lib/plan-order.ts";

export type KnownPlanRow = typeof knownPlans.$inferSelect;

/** Returns the workspace's paid plan; undefined when there is none. Only the US region has these rows. */
export async function selectBillingPlan(
  db: D1Database,
  workspaceId: string,
): Promise<Plan | undefined> {
  const row = await drizzle(db)
    .select({ plan: billingPlans.plan })
    .from(billingPlans)
    .where(eq(billingPlans.workspace_id, workspaceId))
    .get();
  return row?.plan;
}

/** Returns the plan that the US region last reported for the workspace, as the other region has stored it. */
export async function selectKnownPlan(
  db: D1Database,
  workspaceId: string,
): Promise<KnownPlanRow | undefined> {
  return drizzle(db)
    .select()
    .from(knownPlans)
    .where(eq(knownPlans.workspace_id, workspaceId))
    .get();
}

/** Stores a plan unless a later reading is already stored. */
export async function storeKnownPlan(db: D1Database, row: KnownPlanRow): Promise<void> {
  const { plan, read_at } = row;
  await drizzle(db)
    .insert(knownPlans)
    .values(row)
    .onConflictDoUpdate({
      target: knownPlans.workspace_id,
      set: { plan, read_at },
      setWhere: lt(knownPlans.read_at, read_at),
    });
}
