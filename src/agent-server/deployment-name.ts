import { findDeploymentName } from "../db/deployment-lookup-repo.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../lib/scope.ts";

/** Also that of its tracing project. Null when the deployment is gone, or is being deleted. */
export async function deploymentName(
  db: D1Database,
  { workspaceId, deploymentId }: Scope,
): Promise<string | null> {
  if (deploymentId === DEFAULT_DEPLOYMENT_ID) return DEFAULT_DEPLOYMENT_ID;
  // Asked each time: what was recorded after its project was removed would bring that back.
  return (await findDeploymentName(db, workspaceId, deploymentId)) ?? null;
}

/**
 * False when the deployment is gone, or going: whoever deletes it finds its threads in the index, and
 * so none that is temporary. When it cannot be found out, it is taken for true.
 */
export async function isInService(db: D1Database, scope: Scope): Promise<boolean> {
  try {
    return (await deploymentName(db, scope)) !== null;
  } catch {
    return true;
  }
}
