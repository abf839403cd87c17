import type { Scope } from "./scope.ts";

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
