import * as oauth from "oauth4webapi";
import { deleteExpiredOAuthAttempts, insertOAuthAttempt } from "../../db/oauth-attempts-repo.ts";
import type { OAuthProviderRow } from "../../db/oauth-providers-repo.ts";
import type { OAuthTokenRow } from "../../db/oauth-tokens-repo.ts";
import type { OAuthDeps } from "./deps.ts";
import type { SweepTask } from "../../work/sweep.ts";
import { authorizationUrl } from "./authorization-url.ts";
import { scopesToAsk } from "./scopes.ts";
import { sealOAuth } from "./sealed-secrets.ts";

/** How long a user may take on the provider's pages, and how long clients can query the result afterwards. */
export const ATTEMPT_TTL_MS = 10 * 60_000;

export type AttemptRequest = {
  userId: string;
  agentId: string | null;
  scopes: readonly string[];
  isDefault: boolean;
  /** The token that the new one replaces. */
  replaces: OAuthTokenRow | undefined;
  /** The platform's origin, as the user's browser reaches it. */
  origin: string;
};

/** Starts an attempt. Returns its id, and the URL to which the user is sent. */
export async function startAttempt(
  deps: OAuthDeps,
  provider: OAuthProviderRow,
  request: AttemptRequest,
): Promise<{ authId: string; url: string }> {
  const authId = oauth.generateRandomState();
  const workspaceId = provider.workspace_id;
  const redirectUri = callbackUrl(request.origin, provider.provider_id);
  const replaced = request.replaces === undefined ? [] : scopesOf(request.replaces);
  const scopes = scopesToAsk(request.scopes, replaced, provider.provider_type);
  const verifier = provider.uses_pkce ? oauth.generateRandomCodeVerifier() : null;
  const now = Date.now();
  await insertOAuthAttempt(deps.db, {
    auth_id: authId,
    workspace_id: workspaceId,
    provider: provider.id,
    user_id: request.userId,
    agent_id: request.agentId,
    scopes: JSON.stringify(scopes),
    is_default: request.isDefault,
    redirect_uri: redirectUri,
    code_verifier:
      verifier === null
        ? null
        : await sealOAuth(deps.settings.encryptionKeys, verifier, {
            kind: "code_verifier",
            workspaceId,
            id: authId,
          }),
    status: "pending",
    token_id: request.replaces?.id ?? null,
    error: null,
    error_description: null,
    created_at: now,
    expires_at: now + ATTEMPT_TTL_MS,
  });
  const codeChallenge = verifier === null ? null : await oauth.calculatePKCECodeChallenge(verifier);
  const url = authorizationUrl(provider, { state: authId, redirectUri, scopes, codeChallenge });
  return { authId, url };
}

/** Returns the URL to which a service sends users back. It has to be registered with the service. */
export function callbackUrl(origin: string, providerId: string): string {
  return new URL(`/v2/auth/callback/${providerId}`, origin).href;
}

export function scopesOf(row: Pick<OAuthTokenRow, "scopes">): string[] {
  return JSON.parse(row.scopes) as string[];
}

/** Deletes expired attempts. */
export const oauthSweep: readonly SweepTask[] = [
  {
    name: "forget_oauth_attempts",
    rows: 1000,
    run: ({ env, now, rows }) => deleteExpiredOAuthAttempts(env.DB, { before: now, limit: rows }),
  },
];
