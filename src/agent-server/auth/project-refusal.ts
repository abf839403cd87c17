import type { AuthRefusal } from "../../graph-runtime/protocol.ts";
import { ProjectRefusal } from "../../lib/project-refusal.ts";

type HeaderLine = AuthRefusal["headers"][number];

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
