import { and, eq, isNull, lt, or } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { KeyIdentity } from "../lib/key-identity.ts";
import { apiKeys } from "./schema.ts";

/** The key with this hash, unless it was revoked. */
export async function findKeyByHash(
  db: D1Database,
  hash: string,
): Promise<KeyIdentity | undefined> {
  return drizzle(db)
    .select({
      key_id: apiKeys.id,
      hash: apiKeys.hash,
      workspace_id: apiKeys.workspace_id,
      last_used_at: apiKeys.last_used_at,
    })
    .from(apiKeys)
    .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revoked_at)))
    .get();
}

/** Notes the use, unless one was noted since `before`. */
export async function touchKey(
  db: D1Database,
  keyId: string,
  times: { now: number; before: number },
): Promise<void> {
  const unnoted = or(isNull(apiKeys.last_used_at), lt(apiKeys.last_used_at, times.before));
  await drizzle(db)
    .update(apiKeys)
    .set({ last_used_at: times.now })
    .where(and(eq(apiKeys.id, keyId), unnoted));
}
