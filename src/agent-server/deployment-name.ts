import { findDeploymentName } from "../db/deployment-lookup-repo.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../lib/scope.ts";

/**
 * Returns a deployment's name, which is also that of its tracing project. Null if it does not exist or is being
 * deleted.
 */
export async function deploymentName(
  db: D1Database,
  { workspaceId, deploymentId }: Scope,
): Promise<string | null> {
  if (deploymentId === DEFAULT_DEPLOYMENT_ID) return DEFAULT_DEPLOYMENT_ID;
  // The name is read every time, because recording a trace after the project was removed would create it again.
  return (await findDeploymentName(db, workspaceId, deploymentId)) ?? null;
}

/**
 * Returns whether the deployment exists and is not being deleted. Temporary threads have to ask, because a
 * deletion finds threads by the index, which does not contain them. If the database does not answer, the result is
 * true.
 */
export async function isInService(db: D1Database, scope: Scope): Promise<boolean> {
  try {
    return (await deploymentName(db, scope)) !== null;
  } catch {
    return true;
  }
}
