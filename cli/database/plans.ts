import { LOWEST_PLAN } from "../../src/lib/plan-order.ts";
import { CliError } from "../cli-error.ts";
import type { Database } from "./database.ts";

/** The plans of a region's workspaces by their id; null where those cannot be reached from here. */
export async function plansOf(database: Database): Promise<Map<string, string> | null> {
  const billing = billingOf(database);
  if (billing === null) return null;
  const rows = await billing.run("SELECT workspace_id, plan FROM billing_plans WHERE region = ?", [
    regionOf(database),
  ]);
  return new Map(rows.map((row) => [String(row["workspace_id"]), String(row["plan"])]));
}

/** The lowest plan is the one without a row, so that it can be had everywhere. */
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
  const now = Date.now();
  await billing.run(
    `INSERT INTO billing_plans (workspace_id, region, plan, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (workspace_id) DO UPDATE SET plan = excluded.plan, updated_at = excluded.updated_at`,
    [workspaceId, regionOf(database), plan, now, now],
  );
}

/** On one's own machine everything can be tried; in another region than the US, only that one knows. */
export async function ensureLocalPlan(database: Database, workspaceId: string): Promise<void> {
  if (billingOf(database) === null) return;
  await database.run(
    `INSERT OR IGNORE INTO billing_plans (workspace_id, region, plan, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?)`,
    [workspaceId, regionOf(database), "enterprise", Date.now(), Date.now()],
  );
}

function billingOf(database: Database): Database | null {
  return regionOf(database) === "us" ? database : (database.billing ?? null);
}

function regionOf({ region = "us" }: Database): string {
  return region;
}
