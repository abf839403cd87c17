import { and, eq, isNull } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { deployments, revisions } from "./deployments-schema.ts";

/** Whether the workspace has the deployment; what was deleted is there until it is purged. */
export async function hasDeployment(
  db: D1Database,
  { workspaceId, deploymentId }: { workspaceId: string; deploymentId: string },
): Promise<boolean> {
  const found = await drizzle(db)
    .select({ id: deployments.id })
    .from(deployments)
    .where(
      and(
        eq(deployments.workspace_id, workspaceId),
        eq(deployments.id, deploymentId),
        isNull(deployments.purged_at),
      ),
    )
    .get();
  return found !== undefined;
}

export async function hasRevision(
  db: D1Database,
  revision: { workspaceId: string; deploymentId: string; revisionId: string },
): Promise<boolean> {
  const found = await drizzle(db)
    .select({ id: revisions.id })
    .from(revisions)
    .where(
      and(
        eq(revisions.workspace_id, revision.workspaceId),
        eq(revisions.deployment_id, revision.deploymentId),
        eq(revisions.id, revision.revisionId),
      ),
    )
    .get();
  return found !== undefined;
}
