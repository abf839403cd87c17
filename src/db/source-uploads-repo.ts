import { and, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { sourceUploads } from "./deployments-schema.ts";

export type SourceUploadRow = typeof sourceUploads.$inferSelect;

type Key = { workspaceId: string; objectPath: string };

export async function insertSourceUpload(db: D1Database, row: SourceUploadRow): Promise<void> {
  await drizzle(db).insert(sourceUploads).values(row);
}

export async function selectSourceUpload(
  db: D1Database,
  of: Key,
): Promise<SourceUploadRow | undefined> {
  return drizzle(db).select().from(sourceUploads).where(isUpload(of)).get();
}

/** Says that the tarball is there. False when nobody waits for it any more. */
export async function finishSourceUpload(db: D1Database, of: Key, size: number): Promise<boolean> {
  const updated = await drizzle(db)
    .update(sourceUploads)
    .set({ size })
    .where(isUpload(of))
    .returning({ path: sourceUploads.object_path });
  return updated.length === 1;
}

function isUpload({ workspaceId, objectPath }: Key) {
  return and(
    eq(sourceUploads.workspace_id, workspaceId),
    eq(sourceUploads.object_path, objectPath),
  );
}
