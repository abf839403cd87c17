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

/** Headers that tell a client how to ask again. */
const ALLOWED = new Set(["www-authenticate", "retry-after", "content-language"]);

/** A project may invent headers of its own: every name of this form that is not reserved. */
const OWN = /^x-[\w-]{1,100}$/;

/** Browsers and proxies act on these, or the platform answers with them itself. */
const RESERVED = new RegExp(
  "^x-(?:accel|sendfile|lighttpd|reproxy|forwarded|original|rewrite|http-method|real-ip|frame|xss|content|dns|" +
    "permitted|download|ua|robots|csp|webkit|pingback|request-id|ratelimit|pagination|ignored)",
);

const MAX_HEADERS = 20;
const MAX_VALUE_CHARS = 2000;

/** The error to throw where a project's own code refuses a request. */
export function projectRefusal({ status, detail, headers }: AuthRefusal): ProjectRefusal {
  return new ProjectRefusal(status, detail, allowedHeaders(headers));
}

/**
 * Those headers of a project's refusal that reach the client, by names in lower case. A page or a proxy
 * that others share obeys the rest (cookies, redirects, CORS, what a browser is to forget), so it is left
 * out, and so is a value that no header can have.
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
