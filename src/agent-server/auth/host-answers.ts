import { isObject } from "../../lib/json.ts";
import { z } from "zod";
import type {
  AuthenticationResult,
  AuthorizationResult,
  AuthRefusal,
} from "../../graph-runtime/protocol.ts";
import type { Principal } from "../../lib/principal.ts";

/** How long a principal's JSON may be: it is remembered here, and stored with each of the user's runs. */
const MAX_PRINCIPAL_CHARS = 256 * 1024;

const refusal = z.object({
  ok: z.literal(false),
  status: z.int().min(400).max(599),
  detail: z.string(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
}) satisfies z.ZodType<AuthRefusal>;

const principal = z.object({
  user: z.looseObject({
    identity: z.string().min(1),
    display_name: z.string(),
    is_authenticated: z.literal(true),
    permissions: z.array(z.string()),
  }),
  permissions: z.array(z.string()),
}) satisfies z.ZodType<Principal>;

const authentication = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), principal }),
  refusal,
]);

const authorization = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    // As it came, for `parseFilter` to read: a schema of records would leave out what it cannot keep.
    filter: z.custom<Record<string, unknown>>(isObject).nullable(),
    metadata: z.unknown(),
    item: z.unknown().optional(),
  }),
  refusal,
]);

/**
 * Reads a graph host's answer to the question who is asking, as plain data. A deployment's host runs the deployment's own
 * code, so an answer that is malformed or too large throws, and nobody is authenticated by it.
 */
export function toAuthentication(answer: unknown): AuthenticationResult {
  const result = authentication.parse(answer);
  if (!result.ok) return result;
  const text = JSON.stringify(result.principal);
  if (text.length > MAX_PRINCIPAL_CHARS) {
    throw new RangeError(`The principal has more than ${MAX_PRINCIPAL_CHARS} characters`);
  }
  return { ok: true, principal: JSON.parse(text) as Principal };
}

/** Reads a graph host's answer to the question what somebody may do. A malformed one throws, and allows nothing. */
export function toAuthorization(answer: unknown): AuthorizationResult {
  return authorization.parse(answer);
}
