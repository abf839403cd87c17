import type { OAuthProviderType } from "../../db/oauth-schema.ts";

/** The scope that requests a refresh token. It grants no access, and many servers do not list it. */
const OFFLINE_ACCESS = "offline_access";

/** Scopes that Microsoft never lists as granted. */
const MICROSOFT_UNLISTED: ReadonlySet<string> = new Set(["openid", "profile", "email"]);

/** Scopes that servers list under another name, mapped to the name by which they were requested. */
const LISTED_AS: ReadonlyMap<string, string> = new Map([
  ["https://www.googleapis.com/auth/userinfo.email", "email"],
  ["https://www.googleapis.com/auth/userinfo.profile", "profile"],
]);

const MICROSOFT_GRAPH = "https://graph.microsoft.com/";

/** Splits the `scope` of an answer; some servers separate scopes by commas. */
export function parseScopes(text: string): string[] {
  return text.split(/[\s,]+/).filter((scope) => scope !== "");
}

/** Whether a token with the scopes `granted` has all scopes in `needed`. */
export function coversScopes(
  granted: readonly string[],
  needed: readonly string[],
  type: OAuthProviderType | null,
): boolean {
  const known = new Set(granted.map((scope) => comparable(scope, type)));
  return needed.every((scope) => isUnlisted(scope, type) || known.has(comparable(scope, type)));
}

/**
 * Returns the scopes to request from the user. They include those of a token that is replaced; otherwise two
 * agents with different needs would take scopes from each other in turn.
 */
export function scopesToAsk(
  needed: readonly string[],
  replaced: readonly string[],
  type: OAuthProviderType | null,
): string[] {
  // Microsoft issues refresh tokens only on request.
  const offline = type === "microsoft" ? [OFFLINE_ACCESS] : [];
  return [...new Set([...needed, ...replaced, ...offline])];
}

function isUnlisted(scope: string, type: OAuthProviderType | null): boolean {
  return scope === OFFLINE_ACCESS || (type === "microsoft" && MICROSOFT_UNLISTED.has(scope));
}

function comparable(scope: string, type: OAuthProviderType | null): string {
  if (type !== "microsoft") return LISTED_AS.get(scope) ?? scope;
  const lower = scope.toLowerCase();
  return lower.startsWith(MICROSOFT_GRAPH) ? lower.slice(MICROSOFT_GRAPH.length) : lower;
}
