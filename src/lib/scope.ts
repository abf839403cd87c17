/** Whose data a request may touch: every query and every object name starts with it. */
export type Scope = { workspaceId: string; deploymentId: string };

/** The deployment of the project that the Worker was built with. */
export const DEFAULT_DEPLOYMENT_ID = "default";

/** Names of Durable Objects, tenant first. */
export function scopeObjectName(scope: Scope): string {
  return `${scope.workspaceId}/${scope.deploymentId}`;
}

export function threadObjectName(scope: Scope, threadId: string): string {
  return `${scope.workspaceId}/${scope.deploymentId}/${threadId}`;
}

export function storeObjectName(scope: Scope): string {
  return `${scope.workspaceId}/${scope.deploymentId}/store`;
}
