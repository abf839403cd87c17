import { findKeyByHash, type KeyIdentity } from "../db/api-keys-repo.ts";

/** How long a revoked key may still be taken where every request would otherwise ask for it. */
const TTL_MS = 5_000;

const MAX_KEYS = 10_000;

const keys = new Map<string, { identity: KeyIdentity; expiresAt: number }>();

/** Like `findKeyByHash`, from this isolate's memory for a few seconds. Only keys that exist stay. */
export async function findKeyCached(
  db: D1Database,
  hash: string,
): Promise<KeyIdentity | undefined> {
  const now = Date.now();
  const known = keys.get(hash);
  if (known !== undefined && known.expiresAt > now) return known.identity;
  const identity = await findKeyByHash(db, hash);
  keys.delete(hash);
  if (identity === undefined) return undefined;
  if (keys.size >= MAX_KEYS) keys.clear();
  keys.set(hash, { identity, expiresAt: now + TTL_MS });
  return identity;
}
