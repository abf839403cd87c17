import { type ListedDeployment, selectDeployment } from "../../db/deployments-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";

export async function requireDeployment(
  c: AppContext,
  deploymentId: string,
): Promise<ListedDeployment> {
  const found = await selectDeployment(c.env.DB, {
    workspaceId: c.var.scope.workspaceId,
    deploymentId,
  });
  if (found === undefined) throw deploymentNotFound(deploymentId);
  return found;
}

/** One that is not being deleted; 409 otherwise. */
export async function requireReadyDeployment(
  c: AppContext,
  deploymentId: string,
): Promise<ListedDeployment> {
  const found = await requireDeployment(c, deploymentId);
  if (found.deployment.status === "READY") return found;
  throw new ApiError("conflict", `Deployment ID ${deploymentId} is being deleted.`);
}

export function deploymentNotFound(deploymentId: string): ApiError {
  return new ApiError("not_found", `Deployment ID ${deploymentId} not found.`);
}
