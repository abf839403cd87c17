export type KeyIdentity = {
  key_id: string;
  hash: string;
  workspace_id: string;
  last_used_at: number | null;
};

/** The key with this hash, unless it was revoked. */
export async function findKeyByHash(db: D1Database, hash: string): Promise<KeyIdentity | null> {
  return db
    .prepare(
      `SELECT id AS key_id, hash, workspace_id, last_used_at FROM api_keys
       WHERE hash = ? AND revoked_at IS NULL`,
    )
    .bind(hash)
    .first<KeyIdentity>();
}

/** Notes the use, unless one was noted since `before`. */
export async function touchKey(
  db: D1Database,
  keyId: string,
  times: { now: number; before: number },
): Promise<void> {
  await db
    .prepare(
      `UPDATE api_keys SET last_used_at = ?1
       WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?3)`,
    )
    .bind(times.now, keyId, times.before)
    .run();
}
