import type { OAuthProviderType } from "../../db/oauth-schema.ts";

/** Parameters that a request for authorization sets itself; a provider's own URL has none of them. */
export const AUTHORIZATION_PARAMETERS: readonly string[] = [
  "response_type",
  "client_id",
  "redirect_uri",
  "state",
  "scope",
  "user_scope",
  "code_challenge",
  "code_challenge_method",
  "resource",
];

/** Where the user's browser goes to give consent. */
export function authorizationUrl(
  provider: {
    auth_url: string;
    client_id: string;
    provider_type: OAuthProviderType | null;
    resource: string | null;
  },
  request: {
    state: string;
    redirectUri: string;
    scopes: readonly string[];
    /** The challenge of method S256; null means without PKCE. */
    codeChallenge: string | null;
  },
): string {
  // What it has in its query, such as `access_type=offline`, stays.
  const url = new URL(provider.auth_url);
  const { searchParams } = url;
  searchParams.set("response_type", "code");
  searchParams.set("client_id", provider.client_id);
  searchParams.set("redirect_uri", request.redirectUri);
  searchParams.set("state", request.state);
  if (request.scopes.length > 0) {
    // Slack's `scope` is that of a bot; what is done in a user's name has a parameter of its own.
    const isSlack = provider.provider_type === "slack";
    searchParams.set(isSlack ? "user_scope" : "scope", request.scopes.join(isSlack ? "," : " "));
  }
  if (provider.resource !== null) searchParams.set("resource", provider.resource);
  if (request.codeChallenge !== null) {
    searchParams.set("code_challenge", request.codeChallenge);
    searchParams.set("code_challenge_method", "S256");
  }
  return url.href;
}
