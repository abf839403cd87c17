import { v7 as uuid } from "uuid";
import {
  deleteOAuthConnection,
  insertOAuthConnection,
  type ListedOAuthConnection,
  listOAuthConnections,
} from "../../db/oauth-connections-repo.ts";
import type { TokenOwner } from "../../db/oauth-tokens-repo.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { OAuthDeps } from "./deps.ts";
import { requireToken } from "./remove-token.ts";

/**
 * Maximum connections of a user and an agent. They are listed at once, and searched when an agent needs a token.
 */
const MAX_CONNECTIONS = 100;

/** Connects an agent to one of the owner's tokens. A repeated request returns the same connection. */
export async function connectAgent(
  deps: OAuthDeps,
  owner: TokenOwner,
  { agentId, tokenId }: { agentId: string; tokenId: string },
): Promise<ListedOAuthConnection> {
  await requireToken(deps, owner, tokenId);
  const { workspaceId, userId } = owner;
  const row = {
    id: uuid(),
    workspace_id: workspaceId,
    agent_id: agentId,
    token_id: tokenId,
    user_id: userId,
    created_at: Date.now(),
  };
  await insertOAuthConnection(deps.db, row, MAX_CONNECTIONS);
  const connections = await listOAuthConnections(deps.db, owner, agentId);
  const made = connections.find(({ token }) => token.id === tokenId);
  if (made !== undefined) return made;
  if (connections.length < MAX_CONNECTIONS) {
    throw new ApiError("not_found", "OAuth token not found");
  }
  throw new ApiError(
    "conflict",
    `A user has at most ${MAX_CONNECTIONS} connections of an agent: remove some first`,
  );
}

/** Removes a connection; its token is kept. Throws a 404 when the owner has no such connection of the agent. */
export async function disconnectAgent(
  { db }: OAuthDeps,
  owner: TokenOwner,
  connection: { agentId: string; id: string },
): Promise<void> {
  if (await deleteOAuthConnection(db, owner, connection)) return;
  throw new ApiError("not_found", "Connection not found");
}
