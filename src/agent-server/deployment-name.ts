import { findDeploymentName } from "../db/serving-repo.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../lib/scope.ts";

const MAX_NAMES = 10_000;

/** Names never change. */
const names = new Map<string, string>();

/** Also that of its tracing project. Null when the deployment is gone. */
export async function deploymentName(
  db: D1Database,
  { workspaceId, deploymentId }: Scope,
): Promise<string | null> {
  if (deploymentId === DEFAULT_DEPLOYMENT_ID) return DEFAULT_DEPLOYMENT_ID;
  const known = names.get(deploymentId);
  if (known !== undefined) return known;
  const name = await findDeploymentName(db, workspaceId, deploymentId);
  if (name === undefined) return null;
  if (names.size >= MAX_NAMES) names.clear();
  names.set(deploymentId, name);
  return name;
}
