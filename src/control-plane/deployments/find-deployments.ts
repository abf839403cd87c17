import {
  type ListedDeployment,
  listDeployments,
  selectDeployment,
} from "../../db/deployments-repo.ts";
import {
  DEPLOYMENT_STATUSES,
  REVISION_STATUSES,
  type RevisionStatus,
} from "../../db/deployments-schema.ts";
import { type ListedRevision, listRevisions, selectRevision } from "../../db/revisions-repo.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import type { ReadDeps } from "./deps.ts";
import type { DeploymentListQuery } from "./schemas.ts";

export type RevisionPath = { deployment_id: string; revision_id: string };

/** Returns one page of the matching deployments. */
export async function findDeployments(
  { db, workspaceId }: ReadDeps,
  query: DeploymentListQuery,
): Promise<ListedDeployment[]> {
  const status = DEPLOYMENT_STATUSES.find((name) => name === query.status);
  // No deployment here has an image, tags, or one of the API's other statuses.
  if (query.image_version !== undefined || query.tag_value_ids !== undefined) return [];
  if (query.status !== undefined && status === undefined) return [];
  const found = await listDeployments(
    db,
    workspaceId,
    {
      ids: query.deployment_ids,
      name: query.name,
      nameContains: query.name_contains,
      status,
      deploymentType: query.deployment_type,
      previewOf: query.preview_of,
    },
    { limit: query.limit, offset: query.offset },
  );
  if (found !== null) return found;
  const msg =
    "There are too many deployments to search all of them: name the relevant ones with " +
    "deployment_ids";
  throw invalidField(["query", "name_contains"], msg, "query_too_large");
}

/**
 * Returns a deployment, including one that is being deleted. Throws a 404 when the workspace has none with this
 * id.
 */
export async function requireDeployment(
  { db, workspaceId }: ReadDeps,
  deploymentId: string,
): Promise<ListedDeployment> {
  const found = await selectDeployment(db, { workspaceId, deploymentId });
  if (found === undefined) throw deploymentNotFound(deploymentId);
  return found;
}

/** Returns a deployment. Throws a 404 when it does not exist, and a 409 when it is being deleted. */
export async function requireKeptDeployment(
  deps: ReadDeps,
  deploymentId: string,
): Promise<ListedDeployment> {
  const found = await requireDeployment(deps, deploymentId);
  if (found.deployment.status === "READY") return found;
  throw new ApiError("conflict", `Deployment ID ${deploymentId} is being deleted.`);
}

export function deploymentNotFound(deploymentId: string): ApiError {
  return new ApiError("not_found", `Deployment ID ${deploymentId} not found.`);
}

/** Returns one page of a deployment's revisions, newest first. */
export async function findRevisions(
  deps: ReadDeps,
  deploymentId: string,
  page: { status: readonly string[] | undefined; limit: number; offset: number },
): Promise<ListedRevision[]> {
  await requireDeployment(deps, deploymentId);
  const { db, workspaceId } = deps;
  const { status, limit, offset } = page;
  const isAsked = (known: RevisionStatus): boolean => status?.includes(known) ?? true;
  // The API's other statuses never occur here.
  const statuses = status === undefined ? undefined : REVISION_STATUSES.filter(isAsked);
  return listRevisions(db, { workspaceId, deploymentId }, { statuses, limit, offset });
}

/** Throws a 404 when the workspace has no such deployment, or the deployment has no such revision. */
export async function requireRevision(
  deps: ReadDeps,
  { deployment_id: deploymentId, revision_id: id }: RevisionPath,
): Promise<ListedRevision> {
  await requireDeployment(deps, deploymentId);
  const { db, workspaceId } = deps;
  const found = await selectRevision(db, { workspaceId, deploymentId }, id);
  if (found === undefined) throw new ApiError("not_found", `Revision ID ${id} not found.`);
  return found;
}
