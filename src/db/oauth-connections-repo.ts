import { and, asc, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { oauthConnections, oauthProviders, oauthTokens } from "./oauth-schema.ts";
import type { ListedOAuthToken, TokenOwner } from "./oauth-tokens-repo.ts";

export type OAuthConnectionRow = typeof oauthConnections.$inferSelect;

/** A connection, and the token that the agent uses through it. */
export type ListedOAuthConnection = ListedOAuthToken & { connection: OAuthConnectionRow };

/** Returns an agent's connections to tokens of the owner, oldest first. */
export async function listOAuthConnections(
  db: D1Database,
  owner: TokenOwner,
  agentId: string,
): Promise<ListedOAuthConnection[]> {
  return drizzle(db)
    .select({
      connection: oauthConnections,
      token: oauthTokens,
      providerId: oauthProviders.provider_id,
    })
    .from(oauthConnections)
    .innerJoin(
      oauthTokens,
      and(
        eq(oauthTokens.workspace_id, oauthConnections.workspace_id),
        eq(oauthTokens.id, oauthConnections.token_id),
      ),
    )
    .innerJoin(
      oauthProviders,
      and(
        eq(oauthProviders.workspace_id, oauthTokens.workspace_id),
        eq(oauthProviders.id, oauthTokens.provider),
      ),
    )
    .where(isOf(owner, agentId))
    .orderBy(asc(oauthConnections.created_at), asc(oauthConnections.id));
}

/**
 * Connects an agent to a token. Does nothing when they are connected already, the token is gone, or the owner has
 * `max` connections of the agent.
 */
export async function insertOAuthConnection(
  db: D1Database,
  row: OAuthConnectionRow,
  max: number,
): Promise<void> {
  const { id, workspace_id, agent_id, token_id, user_id, created_at } = row;
  await db
    .prepare(
      `INSERT INTO oauth_connections (id, workspace_id, agent_id, token_id, user_id, created_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6 FROM oauth_tokens
       WHERE workspace_id = ?2 AND id = ?4 AND user_id = ?5
         AND (SELECT count(*) FROM oauth_connections
              WHERE workspace_id = ?2 AND agent_id = ?3 AND user_id = ?5) < ?7
       ON CONFLICT DO NOTHING`,
    )
    .bind(id, workspace_id, agent_id, token_id, user_id, created_at, max)
    .run();
}

/** Returns false when the owner has no such connection of the agent. */
export async function deleteOAuthConnection(
  db: D1Database,
  owner: TokenOwner,
  { agentId, id }: { agentId: string; id: string },
): Promise<boolean> {
  const deleted = await drizzle(db)
    .delete(oauthConnections)
    .where(and(isOf(owner, agentId), eq(oauthConnections.id, id)))
    .returning({ id: oauthConnections.id });
  return deleted.length === 1;
}

function isOf({ workspaceId, userId }: TokenOwner, agentId: string) {
  return and(
    eq(oauthConnections.workspace_id, workspaceId),
    eq(oauthConnections.agent_id, agentId),
    eq(oauthConnections.user_id, userId),
  );
}
