import { eq, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { knownPlans } from "./billing-schema.ts";

export type KnownPlanRow = typeof knownPlans.$inferSelect;

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

/** Keeps what was read last, in whatever order it arrives. */
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
