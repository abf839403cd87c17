import { findDeploymentName } from "../db/deployment-lookup-repo.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../lib/scope.ts";

/** A deployment's name, which its tracing project has, too. Null when it is gone, or is being deleted. */
export async function deploymentName(
  db: D1Database,
  { workspaceId, deploymentId }: Scope,
): Promise<string | null> {
  if (deploymentId === DEFAULT_DEPLOYMENT_ID) return DEFAULT_DEPLOYMENT_ID;
  // It is asked for each time, because a trace that is recorded after its project was removed would bring that back.
  return (await findDeploymentName(db, workspaceId, deploymentId)) ?? null;
}

/**
 * Whether the deployment is neither gone nor being deleted. A temporary thread has to ask, because a deletion finds threads
 * by the index, which has none of these. When the database does not answer, the deployment is taken to be in service.
 */
export async function isInService(db: D1Database, scope: Scope): Promise<boolean> {
  try {
    return (await deploymentName(db, scope)) !== null;
  } catch {
    return true;
  }
}
