import { createRoute, z } from "@hono/zod-openapi";
import {
  type ListedOAuthConnection,
  listOAuthConnections,
} from "../../db/oauth-connections-repo.ts";
import { uuidParam } from "../../http/path-params.ts";
import { createRouter } from "../../http/router.ts";
import { toIso } from "../../lib/time.ts";
import { connectAgent, disconnectAgent } from "./connection-service.ts";
import { oauthDepsOf, tokenOwner } from "./deps.ts";
import { plainString } from "./schemas.ts";
import { scopesOf } from "./start-attempt.ts";

/** Routes for the calling user's tokens that each agent uses. */
export const connectionRoutes = createRouter();

const tags = ["Agent connections"];
const agentParams = z.object({ agent_id: plainString() });

const connectionSchema = z
  .object({
    id: z.uuid(),
    agent_id: z.string(),
    oauth_token_id: z.uuid(),
    provider_id: z.string(),
    provider_account_label: z.string().nullable(),
    scopes: z.array(z.string()),
    expires_at: z.iso.datetime().nullable(),
    created_by: z.string(),
    created_at: z.iso.datetime(),
  })
  .openapi("AgentConnectionResponse");

connectionRoutes.openapi(
  createRoute({
    method: "get",
    path: "/auth/agents/{agent_id}/connections",
    tags,
    summary: "List an agent's connections to tokens of the user, the oldest first",
    request: { params: agentParams },
    responses: {
      200: {
        description: "The connections",
        content: {
          "application/json": {
            schema: z
              .object({ data: z.array(connectionSchema) })
              .openapi("AgentConnectionListResponse"),
          },
        },
      },
    },
  }),
  async (c) => {
    const { agent_id: agentId } = c.req.valid("param");
    const connections = await listOAuthConnections(c.env.DB, tokenOwner(c), agentId);
    return c.json({ data: connections.map(toConnectionJson) }, 200);
  },
);

connectionRoutes.openapi(
  createRoute({
    method: "post",
    path: "/auth/agents/{agent_id}/connections",
    tags,
    summary: "Let an agent use a token of the user",
    request: {
      params: agentParams,
      body: {
        required: true,
        content: {
          "application/json": {
            schema: z
              .strictObject({ oauth_token_id: uuidParam() })
              .openapi("CreateAgentConnectionRequest"),
          },
        },
      },
    },
    responses: {
      201: {
        description: "The connection",
        content: { "application/json": { schema: connectionSchema } },
      },
    },
  }),
  async (c) => {
    const { agent_id: agentId } = c.req.valid("param");
    const { oauth_token_id: tokenId } = c.req.valid("json");
    const made = await connectAgent(oauthDepsOf(c), tokenOwner(c), { agentId, tokenId });
    return c.json(toConnectionJson(made), 201);
  },
);

connectionRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/auth/agents/{agent_id}/connections/{connection_id}",
    tags,
    summary: "Remove a connection; the token is kept",
    request: { params: agentParams.extend({ connection_id: uuidParam() }) },
    responses: { 204: { description: "It is removed" } },
  }),
  async (c) => {
    const { agent_id: agentId, connection_id: id } = c.req.valid("param");
    await disconnectAgent(oauthDepsOf(c), tokenOwner(c), { agentId, id });
    return c.body(null, 204);
  },
);

function toConnectionJson({ connection, token, providerId }: ListedOAuthConnection) {
  const { expires_at: expiresAt } = token;
  return {
    id: connection.id,
    agent_id: connection.agent_id,
    oauth_token_id: token.id,
    provider_id: providerId,
    provider_account_label: token.provider_account_label,
    scopes: scopesOf(token),
    expires_at: expiresAt === null ? null : toIso(expiresAt),
    created_by: connection.user_id,
    created_at: toIso(connection.created_at),
  };
}
