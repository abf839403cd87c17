import { z } from "zod";
import { CliError } from "../cli-error.ts";
import type { CloudflareApi } from "./cloudflare-api.ts";
import { jurisdictionHeader, type Resource } from "./resources.ts";

/** Maximum objects that one request can list or remove. */
const AT_ONCE = 1_000;

const objectList = z.array(z.looseObject({ key: z.string() }));

/**
 * Removes all objects of a bucket, because Cloudflare only removes empty buckets. Each round starts at the
 * bucket's first object, so the removal can be interrupted at any point and repeated. `onRemoved` is called
 * with the total number of objects removed so far.
 */
export async function emptyBucket(
  api: CloudflareApi,
  bucket: Resource,
  onRemoved: (count: number) => void,
): Promise<void> {
  const path = `/r2/buckets/${bucket.name}/objects`;
  const headers = jurisdictionHeader(bucket);
  let removed = 0;
  for (let before: string | undefined; ;) {
    const listed = objectList.parse(
      await api.request("GET", `${path}?per_page=${AT_ONCE}`, { headers }),
    );
    const keys = listed.map(({ key }) => key);
    if (keys.length === 0) return;
    // An object lock rule keeps its objects, whatever the API is asked.
    if (keys[0] === before) {
      throw new CliError(`the bucket ${bucket.name} keeps its object ${before}`);
    }
    await api.request("DELETE", path, { body: keys, headers });
    removed += keys.length;
    onRemoved(removed);
    before = keys[0];
  }
}
