import { markDeploymentDeleted } from "../../db/deployments-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import { deploymentNotFound } from "./require-deployment.ts";
import { requestRollout } from "./rollout/request-rollout.ts";

const DELETIONS_AT_ONCE = 6;

type Deletions = { deleted: string[]; failed: { deployment_id: string; detail: string }[] };

/** Takes a deployment out of service at once; what it has is removed afterwards. */
export async function requestDeletion(
  c: AppContext,
  deploymentId: string,
  { deletesProject }: { deletesProject: boolean },
): Promise<void> {
  const { workspaceId } = c.var.scope;
  const key = { workspaceId, deploymentId };
  const marked = await markDeploymentDeleted(c.env.DB, key, { deletesProject, now: Date.now() });
  if (!marked) throw deploymentNotFound(deploymentId);
  await requestRollout(c.env, {
    kind: "delete",
    workspace_id: workspaceId,
    deployment_id: deploymentId,
  });
}

/** As many of them as there are; 404 when there is none. */
export async function requestDeletions(c: AppContext, ids: readonly string[]): Promise<Deletions> {
  const result: Deletions = { deleted: [], failed: [] };
  const failures = await mapLimited(ids, DELETIONS_AT_ONCE, (id) => failureOf(c, id));
  for (const [index, id] of ids.entries()) {
    const failure = failures[index] ?? null;
    if (failure === null) result.deleted.push(id);
    else result.failed.push({ deployment_id: id, detail: failure });
  }
  if (result.deleted.length > 0) return result;
  throw new ApiError("not_found", result.failed.map(({ detail }) => detail).join(" "));
}

async function failureOf(c: AppContext, id: string): Promise<string | null> {
  try {
    await requestDeletion(c, id, { deletesProject: false });
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.message;
  }
}
