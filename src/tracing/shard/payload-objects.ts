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

/** Every key begins with the workspace whose it is. */
export function workspaceOfObject(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

/** Deletes what was put there before a time in epoch milliseconds. */
export async function deletePayloadsUnder(
  bucket: R2Bucket,
  prefix: string,
  before: number,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await bucket.list({
      prefix,
      limit: KEYS_PER_DELETE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const old = page.objects.filter(({ uploaded }) => uploaded.getTime() < before);
    if (old.length > 0) await bucket.delete(old.map(({ key }) => key));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
