/** As many keys as R2 lists, and deletes, at a time. */
const KEYS_PER_PAGE = 1000;

const PAGES_PER_CALL = 20;

/** Deletes what has this prefix: some of it at each call. True when nothing is left. */
export async function deleteObjects(bucket: R2Bucket, prefix: string): Promise<boolean> {
  for (let page = 0; page < PAGES_PER_CALL; page += 1) {
    const { objects, truncated } = await bucket.list({ prefix, limit: KEYS_PER_PAGE });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return true;
  }
  return false;
}
