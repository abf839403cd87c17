import { NO_ROUTE_HEADER } from "../../graph-runtime/http-info.ts";
import type { AppContext } from "../../http/app-types.ts";
import { projectOf } from "../auth/requested-project.ts";

/** The platform's own: what it says of the request, and whom browsers let read the answer. */
const OWN = /^(?:access-control-.*|x-request-id|x-ignored-fields|x-ratelimit-.*)$/;

/** What a browser remembers of a whole origin. */
const OF_ORIGIN = new Set([
  "alt-svc",
  "clear-site-data",
  "nel",
  "report-to",
  "reporting-endpoints",
  "service-worker-allowed",
  "set-cookie",
  "strict-transport-security",
]);

/** Pages get an origin of their own by it, which is none. */
const SANDBOX = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

const COOKIE_DOMAIN = /;\s*domain\s*=/i;

/**
 * The headers of an app's answer that reach the client. Deployments that are told apart by their paths share
 * an origin with each other and with the platform: there an app sets nothing for the origin, and its pages
 * cannot act as it. One with a host of its own sets cookies for that host and no other.
 */
export function answerHeaders(c: AppContext, headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete(NO_ROUTE_HEADER);
  const own = Array.from(kept.keys()).filter((name) => OWN.test(name));
  for (const name of own) kept.delete(name);
  if (projectOf(c).deployment === null) return kept;
  if (c.var.settings.hosts.agentsDomain === null) {
    for (const name of OF_ORIGIN) kept.delete(name);
    kept.append("content-security-policy", SANDBOX);
    return kept;
  }
  const cookies = kept.getSetCookie().filter((cookie) => !COOKIE_DOMAIN.test(cookie));
  kept.delete("set-cookie");
  for (const cookie of cookies) kept.append("set-cookie", cookie);
  return kept;
}
