import { z } from "@hono/zod-openapi";
import { OAUTH_CLIENT_AUTH, OAUTH_PROVIDER_TYPES } from "../../db/oauth-schema.ts";
import { plainString } from "./field-schemas.ts";

const MAX_URL_CHARS = 2048;
const MAX_SECRET_CHARS = 4096;

/** Part of a URL that is registered with the provider. */
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

/** What is null or missing stays as it is. */
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
