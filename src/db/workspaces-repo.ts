import { and, asc, eq, isNull, lt, or } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { KeyIdentity } from "../lib/principal.ts";
import { apiKeys, privateEndpoints, type WorkspaceRow, workspaces } from "./schema.ts";

export type ApiKeyRow = Omit<typeof apiKeys.$inferSelect, "hash">;
type NewApiKey = Omit<typeof apiKeys.$inferSelect, "last_used_at" | "revoked_at">;

const LISTED = {
  id: apiKeys.id,
  workspace_id: apiKeys.workspace_id,
  name: apiKeys.name,
  prefix: apiKeys.prefix,
  created_at: apiKeys.created_at,
  last_used_at: apiKeys.last_used_at,
  revoked_at: apiKeys.revoked_at,
};

export async function selectWorkspace(
  db: D1Database,
  id: string,
): Promise<WorkspaceRow | undefined> {
  return drizzle(db).select().from(workspaces).where(eq(workspaces.id, id)).get();
}

/** Returns up to `limit` keys of the workspace that were not revoked, oldest first. */
export async function listApiKeys(
  db: D1Database,
  workspaceId: string,
  limit: number,
): Promise<ApiKeyRow[]> {
  return drizzle(db)
    .select(LISTED)
    .from(apiKeys)
    .where(and(eq(apiKeys.workspace_id, workspaceId), isNull(apiKeys.revoked_at)))
    .orderBy(asc(apiKeys.created_at), asc(apiKeys.id))
    .limit(limit);
}

/** Returns false, and stores nothing, when the workspace already has `most` keys. */
export async function insertApiKey(db: D1Database, key: NewApiKey, most: number): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO api_keys (id, workspace_id, name, prefix, hash, created_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6
       WHERE (SELECT count(*) FROM api_keys WHERE workspace_id = ?2 AND revoked_at IS NULL) < ?7`,
    )
    .bind(key.id, key.workspace_id, key.name, key.prefix, key.hash, key.created_at, most)
    .run();
  return meta.changes > 0;
}

/** Returns undefined when the workspace has no such key, or it was revoked before. */
export async function revokeApiKey(
  db: D1Database,
  of: { workspaceId: string; id: string; now: number },
): Promise<ApiKeyRow | undefined> {
  const { workspaceId, id, now } = of;
  return drizzle(db)
    .update(apiKeys)
    .set({ revoked_at: now })
    .where(
      and(eq(apiKeys.workspace_id, workspaceId), eq(apiKeys.id, id), isNull(apiKeys.revoked_at)),
    )
    .returning(LISTED)
    .get();
}

/** Returns the identity of the key with this hash, unless it was revoked. */
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

/** Records the use of a key, unless its last recorded use is at or after `before`. */
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

type PrivateEndpointRow = typeof privateEndpoints.$inferSelect;

/** Returns undefined when the workspace is not enrolled. */
export async function selectPrivateEndpoint(
  db: D1Database,
  workspaceId: string,
): Promise<PrivateEndpointRow | undefined> {
  return drizzle(db)
    .select()
    .from(privateEndpoints)
    .where(eq(privateEndpoints.workspace_id, workspaceId))
    .get();
}

/**
 * Checks that D1 can write by inserting and deleting a row in one transaction, so nobody sees the row. Rejects
 * when D1 cannot write.
 */
export async function probeWrite(db: D1Database, now: number): Promise<void> {
  const id = `probe ${crypto.randomUUID()}`;
  await db.batch([
    db
      .prepare("INSERT INTO workspaces (id, name, created_at) VALUES (?, 'probe', ?)")
      .bind(id, now),
    db.prepare("DELETE FROM workspaces WHERE id = ?").bind(id),
  ]);
}
