import { and, eq, isNull, or } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { RevisionRef } from "../lib/revision-ref.ts";
import type { AssistantRow } from "./assistants-repo.ts";
import { IS_LATEST_REVISION } from "./deployments-repo.ts";
import { deployments, revisions } from "./deployments-schema.ts";
import { assistants } from "./schema.ts";

export type ServingDeployment = {
  workspaceId: string;
  deploymentId: string;
  /** Null while no revision is deployed. */
  revisionId: string | null;
  /** The requested assistant; null when none was requested or it does not exist. */
  assistant: AssistantRow | null;
};

/**
 * Finds the deployment with this id or slug in any workspace, with one of its assistants. Returns undefined when
 * there is none or it is being deleted.
 */
export async function findServingDeployment(
  db: D1Database,
  address: string,
  assistantId: string | null,
): Promise<ServingDeployment | undefined> {
  const ofDeployment = and(
    eq(assistants.workspace_id, deployments.workspace_id),
    eq(assistants.deployment_id, deployments.id),
    eq(assistants.assistant_id, assistantId ?? ""),
  );
  return drizzle(db)
    .select({
      workspaceId: deployments.workspace_id,
      deploymentId: deployments.id,
      revisionId: deployments.active_revision_id,
      assistant: assistants,
    })
    .from(deployments)
    .leftJoin(assistants, ofDeployment)
    .where(
      and(
        or(eq(deployments.id, address), eq(deployments.slug, address)),
        isNull(deployments.purged_at),
        eq(deployments.status, "READY"),
      ),
    )
    .get();
}

/** Returns the revision that serves a deployment; null when there is none, or the deployment is being deleted. */
export async function findActiveRevision(
  db: D1Database,
  { workspaceId, deploymentId }: { workspaceId: string; deploymentId: string },
): Promise<string | null> {
  const row = await drizzle(db)
    .select({ revisionId: deployments.active_revision_id })
    .from(deployments)
    .where(
      and(
        eq(deployments.workspace_id, workspaceId),
        eq(deployments.id, deploymentId),
        eq(deployments.status, "READY"),
      ),
    )
    .get();
  return row?.revisionId ?? null;
}

/** Returns the name of a deployment; undefined when it is being deleted or was deleted. */
export async function findDeploymentName(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<string | undefined> {
  const row = await drizzle(db)
    .select({ name: deployments.name })
    .from(deployments)
    .where(
      and(
        eq(deployments.workspace_id, workspaceId),
        eq(deployments.id, id),
        eq(deployments.status, "READY"),
      ),
    )
    .get();
  return row?.name;
}

/** Returns what an isolate of a revision needs besides its code: the deployment's name and the sealed secrets. */
export async function readRevisionToLoad(
  db: D1Database,
  { workspaceId, deploymentId, revisionId }: RevisionRef,
): Promise<{ name: string; secrets: string } | undefined> {
  return drizzle(db)
    .select({ name: deployments.name, secrets: revisions.secrets })
    .from(revisions)
    .innerJoin(
      deployments,
      and(
        eq(deployments.workspace_id, revisions.workspace_id),
        eq(deployments.id, revisions.deployment_id),
      ),
    )
    .where(
      and(
        eq(revisions.workspace_id, workspaceId),
        eq(revisions.deployment_id, deploymentId),
        eq(revisions.id, revisionId),
      ),
    )
    .get();
}

/**
 * Returns the sealed secrets of a deployment's latest revision, for any workspace; undefined when it is being
 * deleted.
 */
export async function findLatestSecrets(
  db: D1Database,
  deploymentId: string,
): Promise<{ workspaceId: string; secrets: string } | undefined> {
  return drizzle(db)
    .select({ workspaceId: deployments.workspace_id, secrets: revisions.secrets })
    .from(deployments)
    .innerJoin(revisions, IS_LATEST_REVISION)
    .where(and(eq(deployments.id, deploymentId), eq(deployments.status, "READY")))
    .get();
}

/** Whether the workspace has the deployment. A deleted deployment counts until it is purged. */
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
