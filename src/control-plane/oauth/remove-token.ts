import * as oauth from "oauth4webapi";
import { type OAuthProviderRow, selectOAuthProviderById } from "../../db/oauth-providers-repo.ts";
import {
  deleteOAuthToken,
  deleteOAuthTokensOf,
  type ListedOAuthToken,
  listOAuthTokens,
  type OAuthTokenRow,
  selectOAuthToken,
  type TokenOwner,
} from "../../db/oauth-tokens-repo.ts";
import { ApiError } from "../../lib/api-error.ts";
import { endpointRefusal } from "../../lib/endpoint-address.ts";
import { jsonOrUndefined } from "../../lib/json.ts";
import { log } from "../../lib/log.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import type { OAuthDeps } from "./deps.ts";
import { readText } from "./provider-answers.ts";
import { openTokens } from "./sealed-secrets.ts";
import { clientAuthOf } from "./token-endpoint.ts";

/**
 * Time-out of all requests of one revocation. It is short, because the caller waits although the revocation is
 * optional.
 */
const TIMEOUT_MS = 5000;
const MAX_METADATA_BYTES = 256 * 1024;

/** The paths of servers' metadata, by RFC 8414 and by OpenID Connect. */
const METADATA_PATHS = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
];

/** Revocation endpoints, relative to the token endpoint. */
const SALESFORCE_REVOCATION = "revoke";
const SLACK_REVOCATION = "auth.revoke";

const REVOCATIONS_AT_A_TIME = 4;

/** Throws a 404 when the user has no token with this id. */
export async function requireToken(
  { db }: OAuthDeps,
  owner: TokenOwner,
  id: string,
): Promise<ListedOAuthToken> {
  const found = await selectOAuthToken(db, owner, id);
  if (found === undefined) throw new ApiError("not_found", "OAuth token not found");
  return found;
}

/** Revokes and deletes a token. */
export async function removeToken(deps: OAuthDeps, { token }: ListedOAuthToken): Promise<void> {
  const { workspace_id: workspaceId, user_id: userId } = token;
  const provider = await selectOAuthProviderById(deps.db, workspaceId, token.provider);
  if (provider !== undefined) await revokeToken(deps, provider, token);
  await deleteOAuthToken(deps.db, { workspaceId, userId }, token.id);
}

/** Revokes and deletes all tokens that a user has of a provider. */
export async function removeTokens(
  deps: OAuthDeps,
  owner: TokenOwner,
  provider: OAuthProviderRow,
): Promise<void> {
  const tokens = await listOAuthTokens(deps.db, owner, provider.provider_id);
  await mapLimited(tokens, REVOCATIONS_AT_A_TIME, ({ token }) =>
    revokeToken(deps, provider, token),
  );
  await deleteOAuthTokensOf(deps.db, owner, provider.id);
}

/**
 * Asks the provider to revoke a token, if it is known how. Failures are only logged, because the token is deleted
 * here in any case.
 */
async function revokeToken(
  deps: OAuthDeps,
  provider: OAuthProviderRow,
  token: OAuthTokenRow,
): Promise<void> {
  const { logLevel } = deps.settings;
  const fields = { event: "oauth_token_not_revoked", workspace: token.workspace_id };
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const endpoint = await revocationEndpoint(deps, provider, signal);
    if (endpoint !== null) await revoke(deps, { provider, token, endpoint, signal });
  } catch (error) {
    log(logLevel, "warn", { ...fields, provider: provider.provider_id, error: String(error) });
  }
}

async function revoke(
  deps: OAuthDeps,
  of: { provider: OAuthProviderRow; token: OAuthTokenRow; endpoint: string; signal: AbortSignal },
): Promise<void> {
  const { provider, token, endpoint, signal } = of;
  const { accessToken, refreshToken } = await openTokens(deps.settings.encryptionKeys, token);
  if (provider.provider_type === "slack") {
    const headers = { authorization: `Bearer ${accessToken}` };
    await fetch(endpoint, { method: "POST", headers, redirect: "manual", signal });
    return;
  }
  const server = { issuer: new URL(endpoint).origin, revocation_endpoint: endpoint };
  const client = { client_id: provider.client_id };
  const auth = await clientAuthOf(deps, provider);
  const options = { signal, [oauth.allowInsecureRequests]: deps.settings.privateEndpoints };
  // The refresh token is revoked first, because it could be used to get new tokens.
  for (const each of [refreshToken, accessToken]) {
    if (each === null) continue;
    const response = await oauth.revocationRequest(server, client, auth, each, options);
    await oauth.processRevocationResponse(response);
  }
}

/** Returns null when the endpoint is unknown. */
async function revocationEndpoint(
  deps: OAuthDeps,
  provider: OAuthProviderRow,
  signal: AbortSignal,
): Promise<string | null> {
  const policy = { allowPrivate: deps.settings.privateEndpoints };
  const { provider_type: type, token_url: tokenUrl, revocation_url: known } = provider;
  if (endpointRefusal(tokenUrl, { ...policy, allowQuery: true }) !== null) return null;
  if (known !== null) return endpointRefusal(known, policy) === null ? known : null;
  if (type === "slack") return new URL(SLACK_REVOCATION, tokenUrl).href;
  if (type === "salesforce") return new URL(SALESFORCE_REVOCATION, tokenUrl).href;
  for (const path of METADATA_PATHS) {
    const url = new URL(path, tokenUrl);
    const response = await fetch(url, { redirect: "manual", signal });
    const metadata = jsonOrUndefined(await readText(response, MAX_METADATA_BYTES));
    const endpoint = endpointIn(metadata, tokenUrl);
    if (endpoint !== null) return endpointRefusal(endpoint, policy) === null ? endpoint : null;
  }
  return null;
}

/**
 * Returns the revocation endpoint of a server that lists this token endpoint, because an origin may have several
 * servers.
 */
function endpointIn(metadata: unknown, tokenUrl: string): string | null {
  if (typeof metadata !== "object" || metadata === null) return null;
  const { token_endpoint: tokenEndpoint, revocation_endpoint: endpoint } = metadata as Record<
    string,
    unknown
  >;
  return tokenEndpoint === tokenUrl && typeof endpoint === "string" ? endpoint : null;
}
