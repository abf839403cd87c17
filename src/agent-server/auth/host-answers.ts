import { isObject } from "../../lib/json.ts";
import { z } from "zod";
import type {
  AuthenticationResult,
  AuthorizationResult,
  AuthRefusal,
  HeaderLine,
} from "../../graph-runtime/protocol.ts";
import type { Principal } from "../../lib/principal.ts";
import { ProjectRefusal } from "../../lib/api-error.ts";

/** Maximum characters of a principal's JSON: it is cached in memory, and stored with each of the user's runs. */
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
    // Passed on unchanged for `parseAuthFilter` to read: a record schema would drop what it cannot represent.
    filter: z.custom<Record<string, unknown>>(isObject).nullable(),
    metadata: z.unknown(),
    item: z.unknown().optional(),
  }),
  refusal,
]);

/**
 * Parses a graph host's answer to an authentication request into plain data. The host of a deployment runs the
 * deployment's own code, so this throws for an answer that is malformed or too large, and authenticates nobody by
 * it.
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

/** Parses a graph host's answer to an authorization request. Throws for a malformed answer, which allows nothing. */
export function toAuthorization(answer: unknown): AuthorizationResult {
  return authorization.parse(answer);
}

/** Headers that tell a client how to repeat its request. */
const ALLOWED = new Set(["www-authenticate", "retry-after", "content-language"]);

/** Names that a project may use for its own headers, unless they are reserved. */
const OWN = /^x-[\w-]{1,100}$/;

/** Headers that browsers and proxies act on, or that the platform sets itself. */
const RESERVED = new RegExp(
  "^x-(?:accel|sendfile|lighttpd|reproxy|forwarded|original|rewrite|http-method|real-ip|frame|xss|content|dns|" +
    "permitted|download|ua|robots|csp|webkit|pingback|request-id|ratelimit|pagination|ignored)",
);

const MAX_HEADERS = 20;
const MAX_VALUE_CHARS = 2000;

/** Returns the error to throw when a project's own code refuses a request. */
export function projectRefusal({ status, detail, headers }: AuthRefusal): ProjectRefusal {
  return new ProjectRefusal(status, detail, allowedHeaders(headers));
}

/**
 * Returns the headers of a project's refusal that are passed to the client, with names in lower case. The other
 * headers (cookies, redirects, CORS, clearing of browser data) affect pages and proxies that others share, so they
 * are dropped, as are values that are not valid in a header.
 */
export function allowedHeaders(headers: readonly HeaderLine[]): HeaderLine[] {
  return headers
    .map(({ name, value }) => ({ name: name.toLowerCase(), value }))
    .filter(({ name, value }) => isAllowed(name) && isValue(value))
    .slice(0, MAX_HEADERS);
}

function isAllowed(name: string): boolean {
  return ALLOWED.has(name) || (OWN.test(name) && !RESERVED.test(name));
}

function isValue(value: string): boolean {
  return value.length <= MAX_VALUE_CHARS && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
