/** The tenant and deployment whose data a request may touch. Every query and every object name starts with it. */
export type Scope = { workspaceId: string; deploymentId: string };

/** The id of the deployment that serves the project the Worker was built with. */
export const DEFAULT_DEPLOYMENT_ID = "default";

/** Returns the name of the scope's Durable Object. Names begin with the tenant. */
export function scopeObjectName(scope: Scope): string {
  return `${scope.workspaceId}/${scope.deploymentId}`;
}

export function threadObjectName(scope: Scope, threadId: string): string {
  return `${scope.workspaceId}/${scope.deploymentId}/${threadId}`;
}

export function storeObjectName(scope: Scope): string {
  return `${scope.workspaceId}/${scope.deploymentId}/store`;
}
