import type { Scope } from "./scope.ts";

/** Returns the name of the scope's Durable Object. Names begin with the tenant, and never change once they are in use. */
export function scopeObjectName(scope: Scope): string {
  return `${scope.workspaceId}/${scope.deploymentId}`;
}

export function threadObjectName(scope: Scope, threadId: string): string {
  return `${scope.workspaceId}/${scope.deploymentId}/${threadId}`;
}

export function storeObjectName(scope: Scope): string {
  return `${scope.workspaceId}/${scope.deploymentId}/store`;
}

/** Returns the name of the object for one part of the data of a workspace. */
export function partitionObjectName(workspaceId: string, partition: string): string {
  return `${workspaceId}/${partition}`;
}

type Shard = { workspaceId: string; projectId: string; day: number; bucket: number };

export function shardObjectName({ workspaceId, projectId, day, bucket }: Shard): string {
  return `${workspaceId}/${projectId}/${day}/${bucket}`;
}

/** Requests are also counted by address, so a partition may be an address instead of a tenant. */
export function rateLimitObjectName(region: string, limit: string, partition: string): string {
  return `${region}/${limit}/${partition}`;
}
