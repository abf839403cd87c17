import { and, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { deployments } from "./deployments-schema.ts";
import { skipUnfinished } from "./revisions-repo.ts";

/**
 * Previews are deployments of a branch of another deployment's repository. A preview's `source_config` has
 * `preview_of` and `preview_branch`. The other deployment's has `ended_previews`, the times at which branches were
 * deleted.
 */

type ParentKey = { workspaceId: string; deploymentId: string };

/** A preview to make. `pushed_at` is the time of the push that caused it. */
export type NewPreview = { of: string; branch: string; pushed_at: number; most: number };

/**
 * An SQL condition that the preview described by the JSON in parameter `place` may be made: its deployment is in
 * service, has fewer than `most` previews and none of this branch, and the branch was not deleted after the push.
 * `?1` is the workspace.
 */
export function mayBePreview(place: string): string {
  const siblings = `SELECT count(*) FROM deployments sibling WHERE sibling.workspace_id = ?1
    AND sibling.status = 'READY' AND sibling.source_config ->> '$.preview_of' = ${place} ->> '$.of'`;
  return `EXISTS (SELECT 1 FROM deployments parent
      WHERE parent.workspace_id = ?1 AND parent.id = ${place} ->> '$.of' AND parent.status = 'READY'
        AND NOT EXISTS (SELECT 1 FROM json_each(parent.source_config, '$.ended_previews') ended
          WHERE ended.key = ${place} ->> '$.branch' AND ended.value >= ${place} ->> '$.pushed_at'))
    AND (${siblings}) < ${place} ->> '$.most'
    AND (${siblings} AND sibling.source_config ->> '$.preview_branch' = ${place} ->> '$.branch') = 0`;
}

/** Returns the id of a branch's preview; undefined when there is none, or it is being deleted. */
export async function findPreview(
  db: D1Database,
  of: ParentKey,
  branch: string,
): Promise<string | undefined> {
  const row = await drizzle(db)
    .select({ id: deployments.id })
    .from(deployments)
    .where(
      and(isPreviewOf(of), sql`${deployments.source_config} ->> '$.preview_branch' = ${branch}`),
    )
    .get();
  return row?.id;
}

/** Counts the previews of a deployment, without those that are being deleted. */
export function countPreviews(db: D1Database, of: ParentKey): Promise<number> {
  return drizzle(db).$count(deployments, isPreviewOf(of));
}

/**
 * Takes the preview of a deleted branch out of service, to be deleted with all its data, and merges `config`,
 * which records the branch's end, into the parent deployment. Returns the preview's id; undefined when there is
 * none, or it was made by a push later than the deletion.
 */
export async function endPreview(
  db: D1Database,
  of: ParentKey,
  {
    branch,
    deletedAt,
    config,
    now,
  }: { branch: string; deletedAt: number; config: object; now: number },
): Promise<string | undefined> {
  const [, marked] = await db.batch<{ id: string }>([
    db
      .prepare(
        `UPDATE deployments SET source_config = json_patch(source_config, ?3)
         WHERE workspace_id = ?1 AND id = ?2 AND status = 'READY'`,
      )
      .bind(of.workspaceId, of.deploymentId, JSON.stringify(config)),
    db
      .prepare(
        `UPDATE deployments SET status = 'AWAITING_DELETE', active_revision_id = NULL,
           deletes_project = 1, updated_at = ?5
         WHERE workspace_id = ?1 AND source_config ->> '$.preview_of' = ?2 AND status = 'READY'
           AND source_config ->> '$.preview_branch' = ?3
           AND source_config ->> '$.last_push.pushed_at' <= ?4
         RETURNING id`,
      )
      .bind(of.workspaceId, of.deploymentId, branch, deletedAt, now),
    skipUnfinished(db, of, now),
  ]);
  return marked?.results[0]?.id;
}

function isPreviewOf({ workspaceId, deploymentId }: ParentKey) {
  return and(
    eq(deployments.workspace_id, workspaceId),
    eq(deployments.status, "READY"),
    sql`${deployments.source_config} ->> '$.preview_of' = ${deploymentId}`,
  );
}
