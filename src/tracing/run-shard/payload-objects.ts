import type { ShardRef } from "./shard-ref.ts";

const KEYS_PER_DELETE = 1000;

/** Where in R2 the large payloads and attachments of a shard's runs are. */
export function shardPrefix({ workspaceId, projectId, day, bucket }: ShardRef): string {
  return `${workspaceId}/runs/${projectId}/${day}-${bucket}/`;
}

/** A key of its own for each upload: what a retry leaves behind is never taken for something else. */
export function payloadObjectKey(ref: ShardRef, runId: string, field: string): string {
  return `${shardPrefix(ref)}${runId}/${field}/${crypto.randomUUID()}`;
}

export async function deletePayloadsUnder(bucket: R2Bucket, prefix: string): Promise<void> {
  for (;;) {
    const { objects } = await bucket.list({ prefix, limit: KEYS_PER_DELETE });
    if (objects.length === 0) return;
    await bucket.delete(objects.map(({ key }) => key));
  }
}
