/** Removes what a deployment has; true when nothing is left of it. */
export async function deleteDeployment(
  _env: Env,
  of: { workspaceId: string; deploymentId: string },
): Promise<boolean> {
  throw new Error(`Deployment ${of.deploymentId} cannot be removed yet`);
}
