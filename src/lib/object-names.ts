import type { Scope } from "./scope.ts";

/** The names of all Durable Objects, tenant first: what an object is for, and for whom. A name that is in use never changes. */
export function scopeObjectName(scope: Scope): string {
  return `${scope.workspaceId}/${scope.deploymentId}`;
}

export function threadObjectName(scope: Scope, threadId: string): string {
  return `${scope.workspaceId}/${scope.deploymentId}/${threadId}`;
}

export function storeObjectName(scope: Scope): string {
  return `${scope.workspaceId}/${scope.deploymentId}/store`;
}

/** One of the parts into which what a workspace has is divided. */
export function partitionObjectName(workspaceId: string, partition: string): string {
  return `${workspaceId}/${partition}`;
}

type Shard = { workspaceId: string; projectId: string; day: number; bucket: number };

export function shardObjectName({ workspaceId, projectId, day, bucket }: Shard): string {
  return `${workspaceId}/${projectId}/${day}/${bucket}`;
}

/** Addresses are counted, too, so that not every partition is a tenant's. */
export function rateLimitObjectName(region: string, limit: string, partition: string): string {
  return `${region}/${limit}/${partition}`;
}
