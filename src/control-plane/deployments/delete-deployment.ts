import { removeScope } from "../../agent-server/remove-scope.ts";
import {
  type DeploymentRow,
  purgeDeployment,
  selectDeletedDeployment,
  touchDeletion,
} from "../../db/deployments-repo.ts";
import { forgetSources, releaseSourcesOf } from "../../db/source-uploads-repo.ts";
import { removeDeploymentProject } from "../../tracing/deployment-project.ts";
import { builtCodePrefix } from "../../revision-host/built-code.ts";
import { logStub } from "../../deployment-log/record.ts";

/** As many keys as R2 lists, and deletes, at a time. */
const KEYS_PER_CALL = 1000;

const PAGES_PER_CALL = 20;

export type DeletedDeployment = { workspaceId: string; deploymentId: string };

/**
 * Goes on with the deletion of a deployment that was taken out of service, as far as one invocation can.
 * True when the deployment is gone; otherwise it is to be called once more. A repeat is harmless, and
 * does nothing to a deployment that is in service.
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

/** What deployed code has made and said, and what was built of it. True when nothing is left. */
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

/** Deletes what has this prefix: some of it at each call. True when nothing is left. */
async function deleteObjects(bucket: R2Bucket, prefix: string): Promise<boolean> {
  for (let page = 0; page < PAGES_PER_CALL; page += 1) {
    const { objects, truncated } = await bucket.list({ prefix, limit: KEYS_PER_CALL });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return true;
  }
  return false;
}
