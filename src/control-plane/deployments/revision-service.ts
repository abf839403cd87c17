import {
  interruptRevision,
  type ListedRevision,
  listRevisions,
  selectRevision,
} from "../../db/revisions-repo.ts";
import { REVISION_STATUSES, type RevisionStatus } from "../../db/deployments-schema.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { requireDeployment } from "./require-deployment.ts";
import { addRevision } from "./add-revision.ts";

type RevisionPath = { deployment_id: string; revision_id: string };

/** One page, the newest first. */
export async function findRevisions(
  c: AppContext,
  deploymentId: string,
  page: { status: readonly string[] | undefined; limit: number; offset: number },
): Promise<ListedRevision[]> {
  await requireDeployment(c, deploymentId);
  const { status, limit, offset } = page;
  // The other ones of the API are never those of a revision here.
  const statuses = status === undefined ? undefined : REVISION_STATUSES.filter(isOneOf(status));
  return listRevisions(c.env.DB, keyOf(c, deploymentId), { statuses, limit, offset });
}

export async function requireRevision(
  c: AppContext,
  { deployment_id: deploymentId, revision_id: id }: RevisionPath,
): Promise<ListedRevision> {
  await requireDeployment(c, deploymentId);
  const found = await selectRevision(c.env.DB, keyOf(c, deploymentId), id);
  if (found === undefined) throw new ApiError("not_found", `Revision ID ${id} not found.`);
  return found;
}

/** A new revision with the source of an old one, and the deployment's secrets of now. */
export async function redeployRevision(c: AppContext, path: RevisionPath): Promise<void> {
  const old = await requireRevision(c, path);
  if (old.source === "internal_source" && old.source_tarball_path === null) {
    throw new ApiError("bad_request", `Revision ID ${old.id} has nothing to deploy.`);
  }
  await addRevision(c, path.deployment_id, () => ({ source: old, secrets: [], displayName: null }));
}

/** Ends a revision that has not ended; 409 otherwise. What serves goes on serving. */
export async function interruptRollout(c: AppContext, path: RevisionPath): Promise<ListedRevision> {
  const revision = await requireRevision(c, path);
  const key = keyOf(c, path.deployment_id);
  const interrupted = await interruptRevision(c.env.DB, key, revision.id, Date.now());
  if (interrupted !== undefined) return interrupted;
  const { status } = await requireRevision(c, path);
  throw new ApiError("conflict", `Revision ID ${revision.id} has ended: it is ${status}.`);
}

function isOneOf(given: readonly string[]) {
  return (status: RevisionStatus): boolean => given.includes(status);
}

function keyOf(c: AppContext, deploymentId: string) {
  return { workspaceId: c.var.scope.workspaceId, deploymentId };
}
