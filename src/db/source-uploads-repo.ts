import { and, eq, gt, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { sourceUploads } from "./deployments-schema.ts";
import { jsonValues } from "./json-values.ts";

export type SourceUploadRow = typeof sourceUploads.$inferSelect;

const IS_GIVEN_UP = eq(sourceUploads.created_at, 0);

type Key = { workspaceId: string; objectPath: string };

/** Returns false when the workspace already has `maxUnused` uploads that no revision uses. */
export async function insertSourceUpload(
  db: D1Database,
  row: Pick<SourceUploadRow, "workspace_id" | "object_path" | "created_at">,
  maxUnused: number,
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO source_uploads (workspace_id, object_path, created_at)
       SELECT ?1, ?2, ?3 WHERE ?4 > (SELECT count(*) FROM source_uploads u
         WHERE u.workspace_id = ?1
           AND NOT EXISTS (SELECT 1 FROM revisions WHERE source_tarball_path = u.object_path))`,
    )
    .bind(row.workspace_id, row.object_path, row.created_at, maxUnused)
    .run();
  return meta.changes === 1;
}

export async function selectSourceUpload(
  db: D1Database,
  of: Key,
): Promise<SourceUploadRow | undefined> {
  return drizzle(db).select().from(sourceUploads).where(isUpload(of)).get();
}

/** Records that the tarball is uploaded. Returns false when the upload was given up. */
export async function finishSourceUpload(db: D1Database, of: Key, size: number): Promise<boolean> {
  const updated = await drizzle(db)
    .update(sourceUploads)
    .set({ size })
    .where(and(isUpload(of), gt(sourceUploads.created_at, 0)))
    .returning({ path: sourceUploads.object_path });
  return updated.length === 1;
}

/**
 * Gives up tarballs that only this deployment's revisions use, so that no new revision can use them. Returns their
 * paths.
 */
export async function releaseSourcesOf(
  db: D1Database,
  { workspaceId, deploymentId }: { workspaceId: string; deploymentId: string },
): Promise<string[]> {
  const { results } = await db
    .prepare(
      `UPDATE source_uploads SET size = NULL, created_at = 0 WHERE workspace_id = ?1
         AND object_path IN (SELECT source_tarball_path FROM revisions
           WHERE workspace_id = ?1 AND deployment_id = ?2)
         AND NOT EXISTS (SELECT 1 FROM revisions
           WHERE source_tarball_path = object_path AND deployment_id <> ?2)
       RETURNING object_path`,
    )
    .bind(workspaceId, deploymentId)
    .all<{ object_path: string }>();
  return results.map(({ object_path }) => object_path);
}

/** Gives up some tarballs created before `before` that no revision uses. Returns their paths. */
export async function releaseUnusedSources(
  db: D1Database,
  { before, limit }: { before: number; limit: number },
): Promise<string[]> {
  const { results } = await db
    .prepare(
      `UPDATE source_uploads SET size = NULL, created_at = 0 WHERE object_path IN (
         SELECT object_path FROM source_uploads u WHERE created_at < ?1
           AND NOT EXISTS (SELECT 1 FROM revisions WHERE source_tarball_path = u.object_path)
         ORDER BY created_at LIMIT ?2)
       RETURNING object_path`,
    )
    .bind(before, limit)
    .all<{ object_path: string }>();
  return results.map(({ object_path }) => object_path);
}

/** Removes the rows of given-up tarballs whose objects are deleted. */
export async function forgetSources(db: D1Database, objectPaths: readonly string[]): Promise<void> {
  await drizzle(db)
    .delete(sourceUploads)
    .where(and(inArray(sourceUploads.object_path, jsonValues(objectPaths)), IS_GIVEN_UP));
}

function isUpload({ workspaceId, objectPath }: Key) {
  return and(
    eq(sourceUploads.workspace_id, workspaceId),
    eq(sourceUploads.object_path, objectPath),
  );
}
