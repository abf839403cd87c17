import type { OAuthProviderType } from "../../db/oauth-schema.ts";

/** Parameters that each authorization request sets. A provider's own URL must not contain them. */
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

/** Returns the URL of the page on which the user gives consent. */
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
    /** The challenge of method S256; null without PKCE. */
    codeChallenge: string | null;
  },
): string {
  // The URL keeps its own query, such as `access_type=offline`.
  const url = new URL(provider.auth_url);
  const { searchParams } = url;
  searchParams.set("response_type", "code");
  searchParams.set("client_id", provider.client_id);
  searchParams.set("redirect_uri", request.redirectUri);
  searchParams.set("state", request.state);
  if (request.scopes.length > 0) {
    // Slack's `scope` is for bots; scopes of actions in a user's name have a parameter of their own.
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
