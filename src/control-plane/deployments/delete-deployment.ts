import { removeScope } from "../../agent-server/remove-scope.ts";
import {
  type DeploymentRow,
  markDeploymentDeleted,
  purgeDeployment,
  selectDeletedDeployment,
  touchDeletion,
} from "../../db/deployments-repo.ts";
import { forgetSources, releaseSourcesOf } from "../../db/source-uploads-repo.ts";
import { removeDeploymentProject } from "../../tracing/deployment-project.ts";
import { builtCodePrefix } from "../../revision-host/built-code.ts";
import { logStub } from "../../deployment-log/record.ts";
import { ApiError } from "../../lib/api-error.ts";
import { CONNECTIONS, mapLimited } from "../../lib/map-limited.ts";
import type { DeploymentDeps } from "./deps.ts";
import { deploymentNotFound } from "./find-deployments.ts";

type Deleting = Pick<DeploymentDeps, "db" | "workspaceId" | "requestWork">;

type Deletions = { deleted: string[]; failed: { deployment_id: string; detail: string }[] };

/** Takes a deployment and its previews out of service at once. Their data is removed afterwards. */
export async function requestDeletion(
  { db, workspaceId, requestWork }: Deleting,
  deploymentId: string,
  { deletesProject }: { deletesProject: boolean },
): Promise<void> {
  const key = { workspaceId, deploymentId };
  const marked = await markDeploymentDeleted(db, key, { deletesProject, now: Date.now() });
  if (!marked.includes(deploymentId)) throw deploymentNotFound(deploymentId);
  await requestWork(
    marked.map((id) => ({ kind: "delete", workspace_id: workspaceId, deployment_id: id })),
  );
}

/** Requests the deletion of each deployment that exists. Throws a 404 when none of them does. */
export async function requestDeletions(deps: Deleting, ids: readonly string[]): Promise<Deletions> {
  const result: Deletions = { deleted: [], failed: [] };
  const failures = await mapLimited(ids, CONNECTIONS, (id) => failureOf(deps, id));
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

/** Maximum keys that R2 lists, and deletes, per call. */
const KEYS_PER_CALL = 1000;

const PAGES_PER_CALL = 20;

export type DeletedDeployment = { workspaceId: string; deploymentId: string };

/**
 * Continues the deletion of a deployment that was taken out of service, as far as one invocation can. Resolves to
 * true when the deployment is gone; otherwise this must be called again. Repeating it is harmless, and a
 * deployment in service is not affected.
 */
export async function deleteDeployment(env: Env, of: DeletedDeployment): Promise<boolean> {
  const row = await selectDeletedDeployment(env.DB, of);
  if (row === undefined || row.purged_at !== null) return true;
  await touchDeletion(env.DB, of, Date.now());
  if (!(await removeContent(env, of))) return false;
  await removeSources(env, of);
  await removeProject(env, row);
  await purgeDeployment(env.DB, of, Date.now());
  return true;
}

/** Removes data and logs of the deployed code, and the built code. Resolves to true when nothing is left. */
export async function removeContent(env: Env, of: DeletedDeployment): Promise<boolean> {
  if (!(await removeScope(env, of))) return false;
  if (!(await deleteObjects(env.SOURCES, builtCodePrefix(of)))) return false;
  await logStub(env, of).erase();
  return true;
}

async function removeSources(env: Env, of: DeletedDeployment): Promise<void> {
  const paths = await releaseSourcesOf(env.DB, of);
  if (paths.length === 0) return;
  for (let start = 0; start < paths.length; start += KEYS_PER_CALL) {
    await env.SOURCES.delete(paths.slice(start, start + KEYS_PER_CALL));
  }
  await forgetSources(env.DB, paths);
}

async function removeProject(env: Env, row: DeploymentRow): Promise<void> {
  if (row.deletes_project) await removeDeploymentProject(env, row.workspace_id, row.name);
}

/** Deletes objects with this prefix, a limited number per call. Resolves to true when none is left. */
async function deleteObjects(bucket: R2Bucket, prefix: string): Promise<boolean> {
  for (let page = 0; page < PAGES_PER_CALL; page += 1) {
    const { objects, truncated } = await bucket.list({ prefix, limit: KEYS_PER_CALL });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return true;
  }
  return false;
}
