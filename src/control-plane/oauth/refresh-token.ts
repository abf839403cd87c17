import type { OAuthProviderRow } from "../../db/oauth-providers-repo.ts";
import {
  claimOAuthRefresh,
  finishOAuthRefresh,
  type OAuthTokenRow,
  releaseOAuthRefresh,
  selectOAuthToken,
} from "../../db/oauth-tokens-repo.ts";
import type { OAuthDeps } from "./deps.ts";
import { openTokens, sealTokens } from "./sealed-secrets.ts";
import { refreshGrant, type TokenGrant } from "./token-endpoint.ts";

export type UsableToken =
  | { status: "usable"; accessToken: string; row: OAuthTokenRow }
  /** Only the user can provide a new token. */
  | { status: "expired" }
  | { status: "unavailable"; reason: string };

/** Duration of a claim. It is longer than a request to the provider may take. */
const LEASE_MS = 30_000;

/** How long to wait for a refresh by another process. */
const WAIT_MS = 15_000;
const POLL_MS = 200;

/**
 * Returns the token, refreshed first when it expires within `marginMs` milliseconds. Only one of several
 * concurrent callers sends the refresh and the others wait, because many providers accept a refresh token only
 * once. Throws a `SecretBoxError` when the token cannot be opened.
 */
export async function usableToken(
  deps: OAuthDeps,
  provider: OAuthProviderRow,
  token: OAuthTokenRow,
  marginMs: number,
): Promise<UsableToken> {
  const giveUpAt = Date.now() + WAIT_MS;
  let row: OAuthTokenRow | undefined = token;
  while (row !== undefined) {
    const { accessToken, refreshToken } = await openTokens(deps.settings.encryptionKeys, row);
    const now = Date.now();
    if (row.expires_at === null || row.expires_at > now + marginMs) {
      return { status: "usable", accessToken, row };
    }
    if (refreshToken === null) return { status: "expired" };
    if (await claimOAuthRefresh(deps.db, row, { now, until: now + LEASE_MS })) {
      return refresh(deps, provider, row, { accessToken, refreshToken });
    }
    if (now > giveUpAt) return { status: "unavailable", reason: "The token is being refreshed" };
    await scheduler.wait(POLL_MS);
    row = await reread(deps, row);
  }
  return { status: "expired" };
}

async function refresh(
  deps: OAuthDeps,
  provider: OAuthProviderRow,
  row: OAuthTokenRow,
  old: { accessToken: string; refreshToken: string },
): Promise<UsableToken> {
  const result = await refreshGrant(deps, provider, old.refreshToken);
  if (result.ok) return store(deps, row, result.grant, old.refreshToken);
  const { reason, failure } = result;
  // Other refusals may pass, for example when the client's secret has changed.
  const forget = reason === "refused" && failure.error === "invalid_grant";
  await releaseOAuthRefresh(deps.db, row, { forget });
  if (reason === "refused") return { status: "expired" };
  if (row.expires_at !== null && row.expires_at > Date.now()) {
    return { status: "usable", accessToken: old.accessToken, row };
  }
  return { status: "unavailable", reason: failure.description };
}

async function store(
  deps: OAuthDeps,
  row: OAuthTokenRow,
  grant: TokenGrant,
  refreshToken: string,
): Promise<UsableToken> {
  const { workspace_id: workspaceId, id } = row;
  const plain = {
    accessToken: grant.accessToken,
    // Without a new refresh token, the old one stays valid.
    refreshToken: grant.refreshToken ?? refreshToken,
  };
  const change = {
    ...(await sealTokens(deps.settings.encryptionKeys, { workspaceId, id }, plain)),
    scopes: grant.scopes === null ? row.scopes : JSON.stringify(grant.scopes),
    metadata: grant.metadata === null ? row.metadata : JSON.stringify(grant.metadata),
    expires_at: grant.expiresAt,
    updated_at: Date.now(),
  };
  if (await finishOAuthRefresh(deps.db, row, change)) {
    return { status: "usable", accessToken: grant.accessToken, row: { ...row, ...change } };
  }
  // Meanwhile the user has connected the service again, or disconnected it.
  const newer = await reread(deps, row);
  if (newer === undefined) return { status: "expired" };
  return {
    status: "usable",
    accessToken: (await openTokens(deps.settings.encryptionKeys, newer)).accessToken,
    row: newer,
  };
}

async function reread(deps: OAuthDeps, row: OAuthTokenRow): Promise<OAuthTokenRow | undefined> {
  const owner = { workspaceId: row.workspace_id, userId: row.user_id };
  return (await selectOAuthToken(deps.db, owner, row.id))?.token;
}
