import { listOAuthConnections } from "../../db/oauth-connections-repo.ts";
import type { OAuthProviderRow } from "../../db/oauth-providers-repo.ts";
import {
  listOAuthTokens,
  type OAuthTokenRow,
  type TokenOwner,
} from "../../db/oauth-tokens-repo.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { WorkspaceDeps } from "./deps.ts";
import type { AuthenticateBody, AuthenticatedJson } from "./schemas.ts";
import { requireProvider } from "./provider-service.ts";
import { type UsableToken, usableToken } from "./refresh-token.ts";
import { coversScopes } from "./scopes.ts";
import { scopesOf, startAttempt } from "./start-attempt.ts";

/** Minimum remaining lifetime of a token that is handed out, if the provider allows it. */
const MARGIN_MS = 60_000;

/** Returns a stored token that is usable, or else starts an attempt to get one from the user. */
export async function authenticate(
  deps: WorkspaceDeps,
  owner: TokenOwner,
  body: AuthenticateBody,
): Promise<AuthenticatedJson> {
  const provider = await requireProvider(deps, body.provider);
  const stored = await findToken(deps.db, owner, provider, body);
  const usable = await stillUsable(deps, provider, body, stored);
  if (usable?.status === "usable") {
    return {
      status: "completed",
      url: null,
      auth_id: null,
      token: usable.accessToken,
      user_id: owner.userId,
      metadata: metadataOf(usable.row),
    };
  }
  const agentId = body.agent_id ?? null;
  const { authId, url } = await startAttempt(deps, provider, {
    userId: owner.userId,
    agentId,
    scopes: body.scopes,
    isDefault: body.is_default,
    replaces: isReplaced(stored, body) ? stored : undefined,
    origin: deps.origin,
  });
  return {
    status: "pending",
    url,
    auth_id: authId,
    token: null,
    user_id: owner.userId,
    metadata: null,
  };
}

/**
 * Returns the token with the id `token_id`, else the best one: the agent's own tokens come before connected ones,
 * those before tokens of every agent, and tokens with the scopes come first. Throws a 404 when the agent may not
 * use `token_id`.
 */
async function findToken(
  db: D1Database,
  owner: TokenOwner,
  provider: OAuthProviderRow,
  body: AuthenticateBody,
): Promise<OAuthTokenRow | undefined> {
  const agentId = body.agent_id ?? null;
  const all = (await listOAuthTokens(db, owner, provider.provider_id)).map(({ token }) => token);
  const general = all.filter((token) => token.agent_id === null);
  const own = agentId === null ? [] : all.filter((token) => token.agent_id === agentId);
  const connected = agentId === null ? [] : await connectedTokens(db, owner, { agentId, all });
  const candidates = [...own, ...connected, ...general];
  if (body.token_id != null) {
    const found = candidates.find(({ id }) => id === body.token_id);
    if (found === undefined) throw new ApiError("not_found", "OAuth token not found");
    return found;
  }
  return candidates.find((token) => covers(token, provider, body)) ?? candidates[0];
}

/** Returns the user's tokens to which the agent was connected. */
async function connectedTokens(
  db: D1Database,
  owner: TokenOwner,
  of: { agentId: string; all: OAuthTokenRow[] },
): Promise<OAuthTokenRow[]> {
  const connections = await listOAuthConnections(db, owner, of.agentId);
  const ids = new Set(connections.map(({ token }) => token.id));
  return of.all.filter(({ id }) => ids.has(id));
}

async function stillUsable(
  deps: WorkspaceDeps,
  provider: OAuthProviderRow,
  body: AuthenticateBody,
  stored: OAuthTokenRow | undefined,
): Promise<UsableToken | null> {
  if (stored === undefined || body.force_new || !covers(stored, provider, body)) return null;
  const usable = await deps.keepGoing(usableToken(deps, provider, stored, MARGIN_MS));
  if (usable.status === "unavailable") {
    throw new ApiError("unavailable", `The token cannot be refreshed now: ${usable.reason}`);
  }
  // The provider may have removed a scope during the refresh.
  return usable.status === "usable" && !covers(usable.row, provider, body) ? null : usable;
}

/**
 * Whether a new token replaces the one that was not usable. A token that other agents use, too, is not replaced,
 * because one agent's request must not change it for all. `force_new` without `token_id` adds a token.
 */
function isReplaced(stored: OAuthTokenRow | undefined, body: AuthenticateBody): boolean {
  if (stored === undefined || stored.agent_id !== (body.agent_id ?? null)) return false;
  return !body.force_new || body.token_id != null;
}

function covers(
  token: OAuthTokenRow,
  provider: OAuthProviderRow,
  { scopes }: AuthenticateBody,
): boolean {
  return coversScopes(scopesOf(token), scopes, provider.provider_type);
}

function metadataOf({ metadata }: OAuthTokenRow): Record<string, unknown> | null {
  return metadata === null ? null : (JSON.parse(metadata) as Record<string, unknown>);
}
