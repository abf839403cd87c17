import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { type Plan, workspaces } from "./schema.ts";

/** Undefined when there is no such workspace. */
export async function selectPlan(db: D1Database, workspaceId: string): Promise<Plan | undefined> {
  const row = await drizzle(db)
    .select({ plan: workspaces.plan })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
    .get();
  return row?.plan;
}
