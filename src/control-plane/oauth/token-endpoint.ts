import * as oauth from "oauth4webapi";
import type { OAuthProviderRow } from "../../db/oauth-providers-repo.ts";
import { endpointRefusal } from "../../lib/endpoint-address.ts";
import { jsonOrUndefined } from "../../lib/json.ts";
import type { OAuthDeps } from "./deps.ts";
import { failureOf, type OAuthFailure, readText } from "./provider-answers.ts";
import { parseScopes } from "./scopes.ts";
import { openClientSecret } from "./sealed-secrets.ts";
import { accountLabel, standardAnswer, tokenMetadata } from "./provider-answers.ts";

/** The tokens that a provider has issued. */
export type TokenGrant = {
  accessToken: string;
  refreshToken: string | null;
  /** The granted scopes; null when they equal the requested ones. */
  scopes: string[] | null;
  /** Milliseconds since the epoch; null when the provider states no expiry. */
  expiresAt: number | null;
  accountLabel: string | null;
  metadata: Record<string, string> | null;
};

export type TokenResult =
  | { ok: true; grant: TokenGrant }
  /** Whether the provider has refused, could not be reached, or sent an invalid answer. */
  | { ok: false; reason: "refused" | "unreachable" | "unreadable"; failure: OAuthFailure };

const REQUEST_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_LIFETIME_SECONDS = 10 * 366 * 86_400;

/**
 * The shortest session time-out that Salesforce administrators can set. Salesforce does not state a token's
 * expiry.
 */
const SALESFORCE_LIFETIME_MS = 15 * 60_000;

type Endpoint = {
  server: oauth.AuthorizationServer;
  client: oauth.Client;
  auth: oauth.ClientAuth;
  options: oauth.TokenEndpointRequestOptions;
};

/** Exchanges an authorization code, which works only once. */
export function exchangeCode(
  deps: OAuthDeps,
  provider: OAuthProviderRow,
  of: { code: string; state: string; redirectUri: string; codeVerifier: string | null },
): Promise<TokenResult> {
  return askForToken(deps, provider, ({ server, client, auth, options }) => {
    const { code, state, redirectUri, codeVerifier } = of;
    // `iss` is not checked, because the issuer of a provider that is described by its endpoints is unknown. Each
    // provider has its own callback URL, which shows that the answer is from the provider that was asked.
    const parameters = oauth.validateAuthResponse(
      server,
      client,
      new URLSearchParams({ code, state }),
      state,
    );
    return oauth.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      parameters,
      redirectUri,
      codeVerifier ?? oauth.nopkce,
      options,
    );
  });
}

export function refreshGrant(
  deps: OAuthDeps,
  provider: OAuthProviderRow,
  refreshToken: string,
): Promise<TokenResult> {
  return askForToken(deps, provider, ({ server, client, auth, options }) =>
    oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, options),
  );
}

/**
 * Returns the authentication method of a provider's client. Throws a `SecretBoxError` when its secret cannot be
 * read.
 */
export async function clientAuthOf(
  deps: OAuthDeps,
  provider: OAuthProviderRow,
): Promise<oauth.ClientAuth> {
  const secret = await openClientSecret(deps.settings.encryptionKeys, provider);
  if (secret === null) return oauth.None();
  return provider.token_endpoint_auth_method === "client_secret_basic"
    ? oauth.ClientSecretBasic(secret)
    : oauth.ClientSecretPost(secret);
}

async function askForToken(
  deps: OAuthDeps,
  provider: OAuthProviderRow,
  send: (endpoint: Endpoint) => Promise<Response>,
): Promise<TokenResult> {
  const allowPrivate = deps.settings.privateEndpoints;
  const refusal = endpointRefusal(provider.token_url, { allowPrivate, allowQuery: true });
  if (refusal !== null) return unreachable(`The provider's token_url ${refusal}`);
  const server = { issuer: new URL(provider.token_url).origin, token_endpoint: provider.token_url };
  const client = { client_id: provider.client_id };
  const auth = await clientAuthOf(deps, provider);
  const options = {
    headers: { "user-agent": "threadworks" },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    additionalParameters: provider.resource === null ? {} : { resource: provider.resource },
    [oauth.allowInsecureRequests]: allowPrivate,
  };
  let status: number;
  let body: unknown;
  try {
    const response = await send({ server, client, auth, options });
    status = response.status;
    body = jsonOrUndefined(await readText(response, MAX_ANSWER_BYTES));
  } catch {
    return unreachable("The provider's token endpoint did not answer");
  }
  const answer = standardAnswer({ status, body }, provider.provider_type);
  if (answer.status >= 500 || answer.status === 429) {
    return unreachable(`The provider's token endpoint answered ${answer.status}`);
  }
  try {
    const response = Response.json(answer.body ?? null, { status: answer.status });
    const tokens = await oauth.processGenericTokenEndpointResponse(server, client, response);
    return { ok: true, grant: toGrant(tokens, provider) };
  } catch (error) {
    return failed(error, answer.status);
  }
}

function toGrant(tokens: oauth.TokenEndpointResponse, provider: OAuthProviderRow): TokenGrant {
  const { access_token, refresh_token, scope, expires_in } = tokens;
  const { provider_type: type } = provider;
  const refreshToken = refresh_token ?? null;
  return {
    accessToken: access_token,
    refreshToken,
    scopes: scope === undefined ? null : parseScopes(scope),
    expiresAt:
      expires_in === undefined
        ? unknownLifetime(provider, refreshToken)
        : Date.now() + Math.min(expires_in, MAX_LIFETIME_SECONDS) * 1000,
    accountLabel: accountLabel(tokens, type),
    metadata: tokenMetadata(tokens, type),
  };
}

/**
 * Returns the assumed expiry of a token without a stated one. A token that can be refreshed is refreshed early;
 * any other is used until it fails.
 */
function unknownLifetime(provider: OAuthProviderRow, refreshToken: string | null): number | null {
  const isRefreshed = provider.provider_type === "salesforce" && refreshToken !== null;
  return isRefreshed ? Date.now() + SALESFORCE_LIFETIME_MS : null;
}

function failed(error: unknown, status: number): TokenResult {
  if (error instanceof oauth.ResponseBodyError) {
    const fallback = "The provider refused to give a token";
    const failure = failureOf(error.error, error.error_description, fallback);
    return { ok: false, reason: "refused", failure };
  }
  const isOurs =
    error instanceof oauth.OperationProcessingError ||
    error instanceof oauth.UnsupportedOperationError;
  if (!isOurs) throw error;
  const description = `The provider's token endpoint answered ${status} with something that is not a token`;
  return {
    ok: false,
    reason: status >= 400 ? "refused" : "unreadable",
    failure: { error: "invalid_token_response", description },
  };
}

function unreachable(description: string): TokenResult {
  const failure = { error: "temporarily_unavailable", description };
  return { ok: false, reason: "unreachable", failure };
}
