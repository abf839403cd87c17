import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { privateEndpoints } from "./schema.ts";

export type PrivateEndpointRow = typeof privateEndpoints.$inferSelect;

/** Returns undefined when the workspace is not enrolled. */
export async function selectPrivateEndpoint(
  db: D1Database,
  workspaceId: string,
): Promise<PrivateEndpointRow | undefined> {
  return drizzle(db)
    .select()
    .from(privateEndpoints)
    .where(eq(privateEndpoints.workspace_id, workspaceId))
    .get();
}
