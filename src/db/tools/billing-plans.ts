import type { Region } from "../../lib/region.ts";
import type { SqlRunner } from "./sql-runner.ts";

type NewPlan = { workspaceId: string; region: Region; plan: string; now: number };

/** Returns the plans of a region's workspaces that have a row, by the workspace's id. */
export async function listBillingPlans(
  db: SqlRunner,
  region: Region,
): Promise<Map<string, string>> {
  const rows = await db.run("SELECT workspace_id, plan FROM billing_plans WHERE region = ?", [
    region,
  ]);
  return new Map(rows.map((row) => [String(row["workspace_id"]), String(row["plan"])]));
}

export async function upsertBillingPlan(db: SqlRunner, plan: NewPlan): Promise<void> {
  await db.run(
    `INSERT INTO billing_plans (workspace_id, region, plan, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (workspace_id) DO UPDATE SET plan = excluded.plan, updated_at = excluded.updated_at`,
    valuesOf(plan),
  );
}

/** Inserts a plan unless the workspace already has one. */
export async function insertBillingPlanOnce(db: SqlRunner, plan: NewPlan): Promise<void> {
  await db.run(
    `INSERT OR IGNORE INTO billing_plans (workspace_id, region, plan, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?)`,
    valuesOf(plan),
  );
}

function valuesOf({ workspaceId, region, plan, now }: NewPlan): (string | number)[] {
  return [workspaceId, region, plan, now, now];
}
