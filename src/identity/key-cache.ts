import { findKeyByHash, type KeyIdentity } from "../db/api-keys-repo.ts";
import { isolateCache } from "../lib/isolate-cache.ts";

/** Keys that exist, by their hash. A revoked one may still be taken for five seconds. */
const keys = isolateCache<string, KeyIdentity>({ maxEntries: 10_000, ttlMs: 5_000 });

/** Like `findKeyByHash`, from this isolate's memory for a few seconds. Only keys that exist stay. */
export async function findKeyCached(
  db: D1Database,
  hash: string,
): Promise<KeyIdentity | undefined> {
  const known = keys.get(hash);
  if (known !== undefined) return known;
  const identity = await findKeyByHash(db, hash);
  if (identity !== undefined) keys.set(hash, identity);
  return identity;
}
