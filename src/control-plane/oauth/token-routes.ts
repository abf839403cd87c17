import { toIso } from "../../lib/time.ts";
import { createRoute, z } from "@hono/zod-openapi";
import {
  describeOAuthToken,
  type ListedOAuthToken,
  listOAuthTokens,
} from "../../db/oauth-tokens-repo.ts";
import { createRouter } from "../../http/router.ts";
import { requireProvider } from "./provider-service.ts";
import { removeToken, removeTokens, requireToken } from "./remove-token.ts";
import { scopesOf } from "./start-attempt.ts";
import {
  tokenListQuery,
  tokenParams,
  tokenProviderQuery,
  tokenStatusSchema,
  type TokenSummary,
  tokenSummarySchema,
  tokenUpdateSchema,
} from "./schemas.ts";
import { oauthDepsOf, keepGoing, tokenOwner, workspaceDepsOf } from "./deps.ts";

/** Routes for the calling user's tokens. */
export const tokenRoutes = createRouter();

const tags = ["Auth service"];

tokenRoutes.openapi(
  createRoute({
    method: "get",
    path: "/auth/tokens",
    tags,
    summary: "List the user's tokens without their values, the default ones first",
    request: { query: tokenListQuery },
    responses: {
      200: {
        description: "The tokens",
        content: { "application/json": { schema: z.array(tokenSummarySchema) } },
      },
    },
  }),
  async (c) => {
    const { provider_id: providerId } = c.req.valid("query");
    const tokens = await listOAuthTokens(c.env.DB, tokenOwner(c), providerId);
    return c.json(tokens.map(toTokenJson), 200);
  },
);

tokenRoutes.openapi(
  createRoute({
    method: "get",
    path: "/auth/tokens/exists",
    tags,
    summary: "Whether the user has a token of a provider",
    request: { query: tokenProviderQuery },
    responses: {
      200: {
        description: "Whether the user has a token, for any agent",
        content: { "application/json": { schema: tokenStatusSchema } },
      },
    },
  }),
  async (c) => {
    const { provider_id: providerId } = c.req.valid("query");
    const tokens = await listOAuthTokens(c.env.DB, tokenOwner(c), providerId);
    return c.json({ has_token: tokens.length > 0 }, 200);
  },
);

tokenRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/auth/tokens",
    tags,
    summary: "Revoke and delete all tokens that the user has of a provider",
    request: { query: tokenProviderQuery },
    responses: {
      200: {
        description: "They are deleted",
        content: { "application/json": { schema: z.object({}) } },
      },
    },
  }),
  async (c) => {
    const provider = await requireProvider(workspaceDepsOf(c), c.req.valid("query").provider_id);
    await keepGoing(c, removeTokens(oauthDepsOf(c), tokenOwner(c), provider));
    return c.json({}, 200);
  },
);

tokenRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/auth/tokens/{token_id}",
    tags,
    summary: "Revoke and delete a token",
    request: { params: tokenParams },
    responses: { 204: { description: "It is deleted" } },
  }),
  async (c) => {
    const listed = await requireToken(oauthDepsOf(c), tokenOwner(c), c.req.valid("param").token_id);
    await keepGoing(c, removeToken(oauthDepsOf(c), listed));
    return c.body(null, 204);
  },
);

tokenRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/auth/tokens/{token_id}/metadata",
    tags,
    summary: "Change a token's label, or whether it is the default",
    request: {
      params: tokenParams,
      body: { required: true, content: { "application/json": { schema: tokenUpdateSchema } } },
    },
    responses: {
      200: {
        description: "The token",
        content: { "application/json": { schema: tokenSummarySchema } },
      },
    },
  }),
  async (c) => {
    const { token_id: id } = c.req.valid("param");
    const { provider_account_label: label, is_default: isDefault } = c.req.valid("json");
    const { token } = await requireToken(oauthDepsOf(c), tokenOwner(c), id);
    await describeOAuthToken(c.env.DB, token, {
      label: label === "" ? null : (label ?? undefined),
      isDefault: isDefault ?? undefined,
      now: Date.now(),
    });
    return c.json(toTokenJson(await requireToken(oauthDepsOf(c), tokenOwner(c), id)), 200);
  },
);

function toTokenJson({ token, providerId }: ListedOAuthToken): TokenSummary {
  const { expires_at: expiresAt } = token;
  return {
    id: token.id,
    provider_id: providerId,
    provider_account_label: token.provider_account_label,
    scopes: scopesOf(token),
    expires_at: expiresAt === null ? null : toIso(expiresAt),
    is_default: token.is_default,
    created_at: toIso(token.created_at),
    updated_at: toIso(token.updated_at),
  };
}
