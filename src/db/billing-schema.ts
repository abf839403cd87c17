import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { REGIONS } from "../lib/region.ts";
import { PLANS } from "../lib/plan-order.ts";

/**
 * What workspaces of all regions pay for. Rows exist in the US region only; a workspace without one
 * has the lowest plan.
 */
export const billingPlans = sqliteTable(
  "billing_plans",
  {
    workspace_id: text().primaryKey(),
    /** Where the workspace is, and with it its data. */
    region: text({ enum: REGIONS }).notNull(),
    plan: text({ enum: PLANS }).notNull(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
  },
  (table) => [
    check("billing_plans_plan", sql`${table.plan} IN ('developer', 'plus', 'enterprise')`),
  ],
);

/** The other regions keep here which plans the US region told last, and when. */
export const knownPlans = sqliteTable("known_plans", {
  workspace_id: text().primaryKey(),
  plan: text({ enum: PLANS }).notNull(),
  read_at: integer().notNull(),
});
