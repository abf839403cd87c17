import type { OAuthProviderType } from "../../db/oauth-schema.ts";

/** Asks for a refresh token; nothing that a token allows, and many servers do not list it. */
const OFFLINE_ACCESS = "offline_access";

/** Microsoft never lists these as granted. */
const MICROSOFT_UNLISTED: ReadonlySet<string> = new Set(["openid", "profile", "email"]);

/** What servers list in the place of what was asked for. */
const LISTED_AS: ReadonlyMap<string, string> = new Map([
  ["https://www.googleapis.com/auth/userinfo.email", "email"],
  ["https://www.googleapis.com/auth/userinfo.profile", "profile"],
]);

const MICROSOFT_GRAPH = "https://graph.microsoft.com/";

/** A `scope` of an answer; some servers separate by commas. */
export function parseScopes(text: string): string[] {
  return text.split(/[\s,]+/).filter((scope) => scope !== "");
}

/** Whether a token with `granted` does for what needs `needed`. */
export function coversScopes(
  granted: readonly string[],
  needed: readonly string[],
  type: OAuthProviderType | null,
): boolean {
  const known = new Set(granted.map((scope) => comparable(scope, type)));
  return needed.every((scope) => isUnlisted(scope, type) || known.has(comparable(scope, type)));
}

/**
 * What to ask the user for. A token that is replaced keeps what it was good for, or two agents that
 * need different things would take it from each other in turn.
 */
export function scopesToAsk(
  needed: readonly string[],
  replaced: readonly string[],
  type: OAuthProviderType | null,
): string[] {
  // Microsoft gives refresh tokens to those only who ask for them.
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
