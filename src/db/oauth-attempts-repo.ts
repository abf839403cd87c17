import { and, eq, gt, inArray, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { OAuthTokenRow } from "./oauth-tokens-repo.ts";
import { oauthAttempts } from "./oauth-schema.ts";

/** A token that an attempt has obtained. A new token is created with `updated_at` as its creation time. */
type NewOAuthToken = Omit<OAuthTokenRow, "created_at" | "refreshing_until">;

export type OAuthAttemptRow = typeof oauthAttempts.$inferSelect;

export async function insertOAuthAttempt(db: D1Database, row: OAuthAttemptRow): Promise<void> {
  await drizzle(db).insert(oauthAttempts).values(row);
}

export async function selectOAuthAttempt(
  db: D1Database,
  authId: string,
): Promise<OAuthAttemptRow | undefined> {
  return drizzle(db).select().from(oauthAttempts).where(eq(oauthAttempts.auth_id, authId)).get();
}

/**
 * Claims an attempt, which can be done once. Returns false when it is unknown, was claimed before, or has expired.
 */
export async function claimOAuthAttempt(
  db: D1Database,
  authId: string,
  now: number,
): Promise<boolean> {
  const claimed = await drizzle(db)
    .update(oauthAttempts)
    .set({ status: "exchanging" })
    .where(
      and(
        eq(oauthAttempts.auth_id, authId),
        eq(oauthAttempts.status, "pending"),
        gt(oauthAttempts.expires_at, now),
      ),
    )
    .returning({ authId: oauthAttempts.auth_id });
  return claimed.length === 1;
}

export async function failOAuthAttempt(
  db: D1Database,
  authId: string,
  failure: { error: string; error_description: string; expires_at: number },
): Promise<void> {
  await drizzle(db)
    .update(oauthAttempts)
    .set({ ...failure, status: "failed", code_verifier: null })
    .where(and(eq(oauthAttempts.auth_id, authId), eq(oauthAttempts.status, "exchanging")));
}

/**
 * Stores the token that a claimed attempt has obtained, replacing one with the same id. A new default token
 * replaces the former default. Returns false when the attempt is gone, for example because its provider was
 * deleted.
 */
export async function completeOAuthAttempt(
  db: D1Database,
  authId: string,
  token: NewOAuthToken,
  expiresAt: number,
): Promise<boolean> {
  // The batch is one transaction. The later statements take effect only if the first one did.
  const [completed] = await db.batch<{ auth_id: string }>([
    db
      .prepare(
        `UPDATE oauth_attempts
         SET status = 'completed', token_id = ?2, code_verifier = NULL, expires_at = ?3
         WHERE auth_id = ?1 AND status = 'exchanging' RETURNING auth_id`,
      )
      .bind(authId, token.id, expiresAt),
    db
      .prepare(
        `UPDATE oauth_tokens SET is_default = 0
         WHERE workspace_id = ?2 AND user_id = ?3 AND provider = ?4 AND agent_id IS ?5
           AND is_default = 1 AND ?6 = 1
           AND EXISTS (SELECT 1 FROM oauth_attempts WHERE auth_id = ?1 AND status = 'completed')`,
      )
      .bind(
        authId,
        token.workspace_id,
        token.user_id,
        token.provider,
        token.agent_id,
        token.is_default ? 1 : 0,
      ),
    db
      .prepare(
        `INSERT INTO oauth_tokens (id, workspace_id, provider, user_id, agent_id, scopes,
           access_token, refresh_token, key_version, provider_account_label, metadata, is_default,
           expires_at, refreshing_until, created_at, updated_at)
         SELECT ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, NULL, ?15, ?15
         FROM oauth_attempts WHERE auth_id = ?1 AND status = 'completed'
         ON CONFLICT (workspace_id, id) DO UPDATE SET scopes = excluded.scopes,
           access_token = excluded.access_token, refresh_token = excluded.refresh_token,
           key_version = excluded.key_version, metadata = excluded.metadata,
           provider_account_label =
             coalesce(excluded.provider_account_label, oauth_tokens.provider_account_label),
           is_default = max(excluded.is_default, oauth_tokens.is_default),
           expires_at = excluded.expires_at, refreshing_until = NULL,
           updated_at = excluded.updated_at`,
      )
      .bind(
        authId,
        token.id,
        token.workspace_id,
        token.provider,
        token.user_id,
        token.agent_id,
        token.scopes,
        token.access_token,
        token.refresh_token,
        token.key_version,
        token.provider_account_label,
        token.metadata,
        token.is_default ? 1 : 0,
        token.expires_at,
        token.updated_at,
      ),
  ]);
  return completed?.results.length === 1;
}

/** Deletes up to `limit` attempts that expired before `before`. */
export async function deleteExpiredOAuthAttempts(
  db: D1Database,
  { before, limit }: { before: number; limit: number },
): Promise<void> {
  const orm = drizzle(db);
  const expired = orm
    .select({ id: oauthAttempts.auth_id })
    .from(oauthAttempts)
    .where(lt(oauthAttempts.expires_at, before))
    .limit(limit);
  await orm.delete(oauthAttempts).where(inArray(oauthAttempts.auth_id, expired));
}
