import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { integerParam } from "../../http/query-params.ts";
import { plainString, scopeString } from "./field-schemas.ts";

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
    /** There are no shared clients here: each workspace brings its own. */
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
