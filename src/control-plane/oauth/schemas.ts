import { z } from "@hono/zod-openapi";
import { OAUTH_CLIENT_AUTH, OAUTH_PROVIDER_TYPES } from "../../db/oauth-schema.ts";
import { uuidParam } from "../../http/path-params.ts";
import { integerParam } from "../../http/query-params.ts";

/** A name or an id that another party has chosen. */
export function plainString(max = 255) {
  return z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, "String should have no control characters");
}

/** A scope as in RFC 6749, but without commas, because some servers separate scopes by them. */
const scopeString = z
  .string()
  .min(1)
  .max(500)
  .regex(
    /^[\u0021\u0023-\u002b\u002d-\u005b\u005d-\u007e]*$/,
    "String should be one scope, without blanks, commas, quotes and backslashes",
  );

const MAX_URL_CHARS = 2048;
const MAX_SECRET_CHARS = 4096;

/** The provider's name, which is part of the callback URL that is registered with the provider. */
export const providerIdString = z
  .string()
  .min(1)
  .max(100)
  .regex(
    /^(?:[A-Za-z0-9][A-Za-z0-9._-]*)?$/,
    "String should have only letters, digits, dots, hyphens and underscores, and begin with a letter or digit",
  );

const fields = {
  name: plainString(),
  client_id: plainString(1024),
  client_secret: z.string().min(1).max(MAX_SECRET_CHARS),
  auth_url: z.string().min(1).max(MAX_URL_CHARS),
  token_url: z.string().min(1).max(MAX_URL_CHARS),
  uses_pkce: z.boolean(),
  code_challenge_method: z.literal("S256"),
};

export const providerCreateSchema = z
  .strictObject({
    ...fields,
    provider_id: providerIdString,
    client_secret: fields.client_secret.nullish(),
    uses_pkce: fields.uses_pkce.default(false),
    code_challenge_method: fields.code_challenge_method.default("S256"),
    provider_type: z.enum(OAUTH_PROVIDER_TYPES).nullish(),
    token_endpoint_auth_method: z.enum(OAUTH_CLIENT_AUTH).default("client_secret_post"),
  })
  .openapi("OAuthProviderCreateRequest");

export type ProviderCreate = z.infer<typeof providerCreateSchema>;

export const mcpProviderSchema = z
  .strictObject({
    provider_id: providerIdString,
    name: fields.name,
    mcp_server_url: z.string().min(1).max(MAX_URL_CHARS),
  })
  .openapi("MCPOAuthProviderCreateRequest");

export type McpProviderCreate = z.infer<typeof mcpProviderSchema>;

/** Fields that are null or missing keep their values. */
export const providerUpdateSchema = z
  .strictObject({
    name: fields.name.nullish(),
    client_id: fields.client_id.nullish(),
    client_secret: fields.client_secret.nullish(),
    auth_url: fields.auth_url.nullish(),
    token_url: fields.token_url.nullish(),
    uses_pkce: fields.uses_pkce.nullish(),
    code_challenge_method: fields.code_challenge_method.nullish(),
  })
  .openapi("OAuthProviderUpdateRequest");

export type ProviderUpdate = z.infer<typeof providerUpdateSchema>;

export const providerSchema = z
  .object({
    id: z.uuid(),
    organization_id: z.uuid(),
    provider_id: z.string(),
    name: z.string(),
    client_id: z.string(),
    auth_url: z.string(),
    token_url: z.string(),
    uses_pkce: z.boolean(),
    code_challenge_method: z.string().nullable(),
    provider_type: z.enum(OAUTH_PROVIDER_TYPES).nullable(),
    mcp_server_url: z.string().nullable(),
    token_endpoint_auth_method: z.enum(OAUTH_CLIENT_AUTH),
    is_dynamic_client: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi("OAuthProviderResponse");

export type ProviderJson = z.infer<typeof providerSchema>;

export const providerParams = z.object({ provider_id: z.string() });

const MAX_SCOPES = 100;
const DEFAULT_WAIT_SECONDS = 30;
const MAX_WAIT_SECONDS = 300;

export const authenticateSchema = z
  .strictObject({
    provider: z.string().min(1),
    scopes: z.array(scopeString).max(MAX_SCOPES),
    user_id: plainString().nullish(),
    ls_user_id: plainString().nullish(),
    agent_id: plainString().nullish(),
    force_new: z.boolean().default(false),
    token_id: uuidParam().nullish(),
    is_default: z.boolean().default(true),
    /** There are no shared clients here: each workspace has its own. */
    use_agent_builder_public_oauth: z.literal(false).optional(),
  })
  .openapi("AuthAuthenticateRequest");

export type AuthenticateBody = z.infer<typeof authenticateSchema>;

export const authenticatedSchema = z
  .object({
    status: z.enum(["completed", "pending"]),
    url: z.string().nullable(),
    auth_id: z.string().nullable(),
    token: z.string().nullable(),
    user_id: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
  })
  .openapi("AuthAuthenticateResponse");

export type AuthenticatedJson = z.infer<typeof authenticatedSchema>;

export const waitParams = z.object({ auth_id: z.string() });

export const waitQuery = z.strictObject({
  timeout: integerParam({ min: 0, max: MAX_WAIT_SECONDS }).default(DEFAULT_WAIT_SECONDS),
});

export const waitSchema = z
  .object({
    status: z.enum(["completed", "pending", "timeout", "not_found"]),
    token: z.string().nullable(),
    /** Why an attempt has ended without a token. */
    error: z.string().nullable(),
    error_description: z.string().nullable(),
  })
  .openapi("AuthWaitResponse");

export type WaitJson = z.infer<typeof waitSchema>;

export const tokenParams = z.object({ token_id: uuidParam() });

export const tokenListQuery = z.strictObject({ provider_id: z.string().optional() });

export const tokenProviderQuery = z.strictObject({ provider_id: z.string() });

/** Fields that are null or missing keep their values. An empty label removes the label. */
export const tokenUpdateSchema = z
  .strictObject({
    provider_account_label: z.union([z.literal(""), plainString()]).nullish(),
    is_default: z.boolean().nullish(),
  })
  .openapi("OAuthTokenUpdateRequest");

/** A listed token, without the token itself. */
export const tokenSummarySchema = z
  .object({
    id: z.uuid(),
    provider_id: z.string(),
    provider_account_label: z.string().nullable(),
    scopes: z.array(z.string()),
    expires_at: z.iso.datetime().nullable(),
    is_default: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi("OAuthTokenSummary");

export type TokenSummary = z.infer<typeof tokenSummarySchema>;

export const tokenStatusSchema = z
  .object({ has_token: z.boolean() })
  .openapi("OAuthTokenStatusResponse");
