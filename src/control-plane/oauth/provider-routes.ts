import { toIso } from "../../lib/time.ts";
import { createRoute, z } from "@hono/zod-openapi";
import { listOAuthProviders, type OAuthProviderRow } from "../../db/oauth-providers-repo.ts";
import { createRouter } from "../../http/router.ts";
import { workspaceDepsOf } from "./deps.ts";
import { createMcpProvider } from "./mcp-provider.ts";
import {
  mcpProviderSchema,
  providerCreateSchema,
  type ProviderJson,
  providerParams,
  providerSchema,
  providerUpdateSchema,
} from "./schemas.ts";
import {
  changeProvider,
  createProvider,
  removeProvider,
  requireProvider,
} from "./provider-service.ts";

/** Routes for the services that users may connect. */
export const providerRoutes = createRouter();

const tags = ["Auth service"];

const oneProvider = {
  description: "The provider, without its secret",
  content: { "application/json": { schema: providerSchema } },
};

providerRoutes.openapi(
  createRoute({
    method: "get",
    path: "/auth/providers",
    tags,
    summary: "List the workspace's OAuth providers, the oldest first",
    responses: {
      200: {
        description: "The providers",
        content: { "application/json": { schema: z.array(providerSchema) } },
      },
    },
  }),
  async (c) => {
    const rows = await listOAuthProviders(c.env.DB, c.var.scope.workspaceId);
    return c.json(rows.map(toProviderJson), 200);
  },
);

providerRoutes.openapi(
  createRoute({
    method: "post",
    path: "/auth/providers",
    tags,
    summary: "Create an OAuth provider",
    request: {
      body: {
        required: true,
        content: { "application/json": { schema: providerCreateSchema } },
      },
    },
    responses: { 200: oneProvider },
  }),
  async (c) =>
    c.json(toProviderJson(await createProvider(workspaceDepsOf(c), c.req.valid("json"))), 200),
);

providerRoutes.openapi(
  createRoute({
    method: "post",
    path: "/auth/providers/mcp-discover",
    tags,
    summary: "Create the OAuth provider of an MCP server, and register a client for it",
    request: {
      body: { required: true, content: { "application/json": { schema: mcpProviderSchema } } },
    },
    responses: { 200: oneProvider },
  }),
  async (c) => {
    const deps = workspaceDepsOf(c);
    const provider = await deps.keepGoing(createMcpProvider(deps, c.req.valid("json")));
    return c.json(toProviderJson(provider), 200);
  },
);

providerRoutes.openapi(
  createRoute({
    method: "get",
    path: "/auth/providers/{provider_id}",
    tags,
    summary: "Get an OAuth provider",
    request: { params: providerParams },
    responses: { 200: oneProvider },
  }),
  async (c) => {
    const { provider_id } = c.req.valid("param");
    return c.json(toProviderJson(await requireProvider(workspaceDepsOf(c), provider_id)), 200);
  },
);

providerRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/auth/providers/{provider_id}",
    tags,
    summary: "Change an OAuth provider; fields that are null or missing keep their values",
    request: {
      params: providerParams,
      body: {
        required: true,
        content: { "application/json": { schema: providerUpdateSchema } },
      },
    },
    responses: { 200: oneProvider },
  }),
  async (c) => {
    const { provider_id } = c.req.valid("param");
    return c.json(
      toProviderJson(await changeProvider(workspaceDepsOf(c), provider_id, c.req.valid("json"))),
      200,
    );
  },
);

providerRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/auth/providers/{provider_id}",
    tags,
    summary: "Delete an OAuth provider, with its users' tokens",
    request: { params: providerParams },
    responses: {
      200: {
        description: "It is deleted",
        content: { "application/json": { schema: z.object({}) } },
      },
    },
  }),
  async (c) => {
    await removeProvider(workspaceDepsOf(c), c.req.valid("param").provider_id);
    return c.json({}, 200);
  },
);

function toProviderJson(row: OAuthProviderRow): ProviderJson {
  return {
    id: row.id,
    organization_id: row.workspace_id,
    provider_id: row.provider_id,
    name: row.name,
    client_id: row.client_id,
    auth_url: row.auth_url,
    token_url: row.token_url,
    uses_pkce: row.uses_pkce,
    code_challenge_method: "S256",
    provider_type: row.provider_type,
    mcp_server_url: row.mcp_server_url,
    token_endpoint_auth_method: row.token_endpoint_auth_method,
    is_dynamic_client: row.mcp_server_url !== null,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  };
}
