import { and, asc, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { oauthAttempts, oauthProviders, oauthTokens } from "./oauth-schema.ts";
import { jsonValues } from "./json-values.ts";

export type OAuthProviderRow = typeof oauthProviders.$inferSelect;

/** A field that is undefined keeps its stored value. */
export type OAuthProviderChange = {
  [
    Column in
      | "name"
      | "client_id"
      | "client_secret"
      | "key_version"
      | "auth_url"
      | "token_url"
      | "uses_pkce"
  ]?: OAuthProviderRow[Column] | undefined;
};

/** Returns false when the workspace already has a provider with this name. */
export async function insertOAuthProvider(db: D1Database, row: OAuthProviderRow): Promise<boolean> {
  const inserted = await drizzle(db)
    .insert(oauthProviders)
    .values(row)
    .onConflictDoNothing()
    .returning({ id: oauthProviders.id });
  return inserted.length === 1;
}

/** Returns providers, oldest first. */
export async function listOAuthProviders(
  db: D1Database,
  workspaceId: string,
): Promise<OAuthProviderRow[]> {
  return drizzle(db)
    .select()
    .from(oauthProviders)
    .where(eq(oauthProviders.workspace_id, workspaceId))
    .orderBy(asc(oauthProviders.created_at), asc(oauthProviders.id));
}

/** Finds a provider by the name that the workspace gave it. */
export async function selectOAuthProvider(
  db: D1Database,
  workspaceId: string,
  providerId: string,
): Promise<OAuthProviderRow | undefined> {
  return drizzle(db).select().from(oauthProviders).where(isNamed(workspaceId, providerId)).get();
}

export async function selectOAuthProviderById(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<OAuthProviderRow | undefined> {
  return drizzle(db).select().from(oauthProviders).where(isProvider(workspaceId, id)).get();
}

/** Returns undefined when there is no provider with this name. */
export async function updateOAuthProvider(
  db: D1Database,
  workspaceId: string,
  providerId: string,
  change: OAuthProviderChange & { updated_at: number },
): Promise<OAuthProviderRow | undefined> {
  return drizzle(db)
    .update(oauthProviders)
    .set(change)
    .where(isNamed(workspaceId, providerId))
    .returning()
    .get();
}

/** Deletes a provider with the tokens and attempts of its users. */
export async function deleteOAuthProvider(
  db: D1Database,
  { workspace_id: workspaceId, id }: OAuthProviderRow,
): Promise<void> {
  const orm = drizzle(db);
  await orm.batch([
    orm
      .delete(oauthTokens)
      .where(and(eq(oauthTokens.workspace_id, workspaceId), eq(oauthTokens.provider, id))),
    orm
      .delete(oauthAttempts)
      .where(and(eq(oauthAttempts.workspace_id, workspaceId), eq(oauthAttempts.provider, id))),
    orm.delete(oauthProviders).where(isProvider(workspaceId, id)),
  ]);
}

/** Returns some providers whose secret is encrypted by one of these keys, in random order. */
export async function listOAuthProvidersByKey(
  db: D1Database,
  keyVersions: readonly number[],
  limit: number,
): Promise<OAuthProviderRow[]> {
  return drizzle(db)
    .select()
    .from(oauthProviders)
    .where(sql`${oauthProviders.key_version} IN ${jsonValues(keyVersions)}`)
    .orderBy(sql`random()`)
    .limit(limit);
}

/** Returns false when the row has changed since it was read. */
export async function resealOAuthProvider(
  db: D1Database,
  row: OAuthProviderRow,
  to: { client_secret: string; key_version: number },
): Promise<boolean> {
  const updated = await drizzle(db)
    .update(oauthProviders)
    .set(to)
    .where(
      and(
        isProvider(row.workspace_id, row.id),
        sql`${oauthProviders.client_secret} IS ${row.client_secret}`,
      ),
    )
    .returning({ id: oauthProviders.id });
  return updated.length === 1;
}

function isNamed(workspaceId: string, providerId: string) {
  return and(
    eq(oauthProviders.workspace_id, workspaceId),
    eq(oauthProviders.provider_id, providerId),
  );
}

function isProvider(workspaceId: string, id: string) {
  return and(eq(oauthProviders.workspace_id, workspaceId), eq(oauthProviders.id, id));
}
