import { and, desc, eq, isNull, lt, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { oauthProviders, oauthTokens } from "./oauth-schema.ts";
import { jsonValues } from "./json-values.ts";

export type OAuthTokenRow = typeof oauthTokens.$inferSelect;

/** A token, and the name of its provider in the API. */
export type ListedOAuthToken = { token: OAuthTokenRow; providerId: string };

export type TokenOwner = { workspaceId: string; userId: string };

/** The columns that a refresh replaces. */
export type RefreshedOAuthToken = Pick<
  OAuthTokenRow,
  | "access_token"
  | "refresh_token"
  | "key_version"
  | "scopes"
  | "metadata"
  | "expires_at"
  | "updated_at"
>;

/** Returns the owner's tokens: default ones first, then by latest change. */
export async function listOAuthTokens(
  db: D1Database,
  owner: TokenOwner,
  providerId?: string,
): Promise<ListedOAuthToken[]> {
  return withProvider(db)
    .where(
      and(
        isOf(owner),
        providerId === undefined ? undefined : eq(oauthProviders.provider_id, providerId),
      ),
    )
    .orderBy(desc(oauthTokens.is_default), desc(oauthTokens.updated_at), desc(oauthTokens.id));
}

/** Returns undefined when the owner has no token with this id. */
export async function selectOAuthToken(
  db: D1Database,
  owner: TokenOwner,
  id: string,
): Promise<ListedOAuthToken | undefined> {
  return withProvider(db)
    .where(and(isOf(owner), eq(oauthTokens.id, id)))
    .get();
}

export async function deleteOAuthToken(
  db: D1Database,
  owner: TokenOwner,
  id: string,
): Promise<void> {
  await drizzle(db)
    .delete(oauthTokens)
    .where(and(isOf(owner), eq(oauthTokens.id, id)));
}

/** Deletes all tokens of the owner at a provider, given by the provider's `id`. */
export async function deleteOAuthTokensOf(
  db: D1Database,
  owner: TokenOwner,
  provider: string,
): Promise<void> {
  await drizzle(db)
    .delete(oauthTokens)
    .where(and(isOf(owner), eq(oauthTokens.provider, provider)));
}

/**
 * Changes a token. Fields that are undefined keep their values. A token that becomes the default replaces the
 * former default.
 */
export async function describeOAuthToken(
  db: D1Database,
  token: OAuthTokenRow,
  change: { label: string | null | undefined; isDefault: boolean | undefined; now: number },
): Promise<void> {
  const orm = drizzle(db);
  await orm.batch([
    orm
      .update(oauthTokens)
      .set({ is_default: false })
      .where(
        and(
          isOf({ workspaceId: token.workspace_id, userId: token.user_id }),
          eq(oauthTokens.provider, token.provider),
          sql`${oauthTokens.agent_id} IS ${token.agent_id}`,
          eq(oauthTokens.is_default, true),
          sql`${change.isDefault === true ? 1 : 0} = 1`,
        ),
      ),
    orm
      .update(oauthTokens)
      .set({
        ...(change.label === undefined ? {} : { provider_account_label: change.label }),
        ...(change.isDefault === undefined ? {} : { is_default: change.isDefault }),
        updated_at: change.now,
      })
      .where(isToken(token)),
  ]);
}

/**
 * Claims the refresh of a token that is unchanged since it was read. Returns false when another process has the
 * claim.
 */
export async function claimOAuthRefresh(
  db: D1Database,
  token: OAuthTokenRow,
  lease: { now: number; until: number },
): Promise<boolean> {
  const claimed = await drizzle(db)
    .update(oauthTokens)
    .set({ refreshing_until: lease.until })
    .where(
      and(
        isUnchanged(token),
        or(isNull(oauthTokens.refreshing_until), lt(oauthTokens.refreshing_until, lease.now)),
      ),
    )
    .returning({ id: oauthTokens.id });
  return claimed.length === 1;
}

/**
 * Stores the refreshed token and ends the claim. Returns false when the token was replaced or deleted meanwhile.
 */
export async function finishOAuthRefresh(
  db: D1Database,
  token: OAuthTokenRow,
  refreshed: RefreshedOAuthToken,
): Promise<boolean> {
  const updated = await drizzle(db)
    .update(oauthTokens)
    .set({ ...refreshed, refreshing_until: null })
    .where(isUnchanged(token))
    .returning({ id: oauthTokens.id });
  return updated.length === 1;
}

/** Ends a claim without a new token. With `forget`, deletes the refresh token, which the provider has refused. */
export async function releaseOAuthRefresh(
  db: D1Database,
  token: OAuthTokenRow,
  options: { forget: boolean },
): Promise<void> {
  await drizzle(db)
    .update(oauthTokens)
    .set({ refreshing_until: null, ...(options.forget ? { refresh_token: null } : {}) })
    .where(isUnchanged(token));
}

/** Returns some tokens that are encrypted by one of these keys, in random order. */
export async function listOAuthTokensByKey(
  db: D1Database,
  keyVersions: readonly number[],
  limit: number,
): Promise<OAuthTokenRow[]> {
  return drizzle(db)
    .select()
    .from(oauthTokens)
    .where(sql`${oauthTokens.key_version} IN ${jsonValues(keyVersions)}`)
    .orderBy(sql`random()`)
    .limit(limit);
}

/**
 * Returns false when the row has changed since it was read, or the token is being refreshed: the refreshing
 * process identifies the token by its sealed text.
 */
export async function resealOAuthToken(
  db: D1Database,
  token: OAuthTokenRow,
  to: { access_token: string; refresh_token: string | null; key_version: number; now: number },
): Promise<boolean> {
  const { now, ...sealed } = to;
  const updated = await drizzle(db)
    .update(oauthTokens)
    .set(sealed)
    .where(
      and(
        isUnchanged(token),
        sql`${oauthTokens.refresh_token} IS ${token.refresh_token}`,
        or(isNull(oauthTokens.refreshing_until), lt(oauthTokens.refreshing_until, now)),
      ),
    )
    .returning({ id: oauthTokens.id });
  return updated.length === 1;
}

function withProvider(db: D1Database) {
  return drizzle(db)
    .select({ token: oauthTokens, providerId: oauthProviders.provider_id })
    .from(oauthTokens)
    .innerJoin(
      oauthProviders,
      and(
        eq(oauthProviders.workspace_id, oauthTokens.workspace_id),
        eq(oauthProviders.id, oauthTokens.provider),
      ),
    )
    .$dynamic();
}

function isOf({ workspaceId, userId }: TokenOwner) {
  return and(eq(oauthTokens.workspace_id, workspaceId), eq(oauthTokens.user_id, userId));
}

function isToken({ workspace_id: workspaceId, id }: OAuthTokenRow) {
  return and(eq(oauthTokens.workspace_id, workspaceId), eq(oauthTokens.id, id));
}

/** Every sealed text is unique, so an equal text shows that the token is the one that was read. */
function isUnchanged(token: OAuthTokenRow) {
  return and(isToken(token), eq(oauthTokens.access_token, token.access_token));
}
