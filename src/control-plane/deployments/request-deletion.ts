import { markDeploymentDeleted } from "../../db/deployments-repo.ts";
import { ApiError } from "../../lib/api-error.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import type { DeploymentDeps } from "./deps.ts";
import { deploymentNotFound } from "./find-deployments.ts";

const DELETIONS_AT_ONCE = 6;

type Deleting = Pick<DeploymentDeps, "db" | "workspaceId" | "requestWork">;

type Deletions = { deleted: string[]; failed: { deployment_id: string; detail: string }[] };

/** Takes a deployment out of service at once; what it has is removed afterwards. */
export async function requestDeletion(
  { db, workspaceId, requestWork }: Deleting,
  deploymentId: string,
  { deletesProject }: { deletesProject: boolean },
): Promise<void> {
  const key = { workspaceId, deploymentId };
  const marked = await markDeploymentDeleted(db, key, { deletesProject, now: Date.now() });
  if (!marked) throw deploymentNotFound(deploymentId);
  const named = { workspace_id: workspaceId, deployment_id: deploymentId };
  await requestWork([{ kind: "delete", ...named }]);
}

/** Deletes as many of them as there are. It throws a 404 when there is none. */
export async function requestDeletions(deps: Deleting, ids: readonly string[]): Promise<Deletions> {
  const result: Deletions = { deleted: [], failed: [] };
  const failures = await mapLimited(ids, DELETIONS_AT_ONCE, (id) => failureOf(deps, id));
  for (const [index, id] of ids.entries()) {
    const failure = failures[index] ?? null;
    if (failure === null) result.deleted.push(id);
    else result.failed.push({ deployment_id: id, detail: failure });
  }
  if (result.deleted.length > 0) return result;
  throw new ApiError("not_found", result.failed.map(({ detail }) => detail).join(" "));
}

async function failureOf(deps: Deleting, id: string): Promise<string | null> {
  try {
    await requestDeletion(deps, id, { deletesProject: false });
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.message;
  }
}
