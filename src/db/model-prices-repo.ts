import { and, desc, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { modelPrices } from "./tracing-schema.ts";

export type ModelPriceRow = typeof modelPrices.$inferSelect;

export type ModelPriceFields = Omit<ModelPriceRow, "id" | "workspace_id" | "created_at">;

/** Returns a workspace's own prices, newest first. */
export async function listModelPrices(
  db: D1Database,
  workspaceId: string,
): Promise<ModelPriceRow[]> {
  return drizzle(db)
    .select()
    .from(modelPrices)
    .where(eq(modelPrices.workspace_id, workspaceId))
    .orderBy(desc(modelPrices.created_at), desc(modelPrices.id));
}

export async function insertModelPrice(db: D1Database, row: ModelPriceRow): Promise<void> {
  await drizzle(db).insert(modelPrices).values(row);
}

/** Returns the changed row; undefined when the workspace has no price with this id. */
export async function updateModelPrice(
  db: D1Database,
  workspaceId: string,
  id: string,
  fields: ModelPriceFields,
): Promise<ModelPriceRow | undefined> {
  return drizzle(db)
    .update(modelPrices)
    .set(fields)
    .where(and(eq(modelPrices.workspace_id, workspaceId), eq(modelPrices.id, id)))
    .returning()
    .get();
}

export async function deleteModelPrice(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<void> {
  await drizzle(db)
    .delete(modelPrices)
    .where(and(eq(modelPrices.workspace_id, workspaceId), eq(modelPrices.id, id)));
}
