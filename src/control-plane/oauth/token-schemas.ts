import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { plainString } from "./field-schemas.ts";

export const tokenParams = z.object({ token_id: uuidParam() });

export const tokenListQuery = z.strictObject({ provider_id: z.string().optional() });

export const tokenProviderQuery = z.strictObject({ provider_id: z.string() });

/** What is null or missing stays as it is; an empty label is none. */
export const tokenUpdateSchema = z
  .strictObject({
    provider_account_label: z.union([z.literal(""), plainString()]).nullish(),
    is_default: z.boolean().nullish(),
  })
  .openapi("OAuthTokenUpdateRequest");

/** Without the token itself. */
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
