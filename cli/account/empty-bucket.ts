import { z } from "zod";
import { CliError } from "../cli-error.ts";
import type { CloudflareApi } from "./cloudflare-api.ts";
import { jurisdictionHeader, type Resource } from "./resources.ts";

/** As many as one request may list, and one may remove. */
const AT_ONCE = 1_000;

const objectList = z.array(z.looseObject({ key: z.string() }));

/**
 * Removes all objects of a bucket, which Cloudflare does not remove before. Each round begins at the bucket's first object, so
 * that it can be ended at any place and repeated. `onRemoved` is told how many are gone.
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
    // A rule that locks objects keeps them there, whatever is asked.
    if (keys[0] === before) {
      throw new CliError(`the bucket ${bucket.name} keeps its object ${before}`);
    }
    await api.request("DELETE", path, { body: keys, headers });
    removed += keys.length;
    onRemoved(removed);
    before = keys[0];
  }
}
