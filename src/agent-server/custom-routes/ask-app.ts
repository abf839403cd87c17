import type { Hono, Next } from "hono";
import { NO_ROUTE_HEADER } from "../../graph-runtime/http-info.ts";
import { parseSettings } from "../../env.ts";
import type { AppContext, AppEnv } from "../../http/app-types.ts";
import { readBody } from "../../http/json-body.ts";
import { hasRoute } from "../../http/router.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { Principal } from "../../lib/principal.ts";
import { withTimeout } from "../../lib/with-timeout.ts";
import { loadApp } from "../../revision-host/load-revision.ts";
import { projectOf, requestedScope } from "../auth/requested-project.ts";
import { shownRequest } from "../auth/shown-request.ts";

type Asked = { builtIn: Pick<Hono<AppEnv>, "router">; principal: Principal | null };

/**
 * Asks the project's own app, and goes on to the built-in routes where it has none for the request. What it
 * is sent for a path of theirs is read before, because they may need it; any other body it gets as it comes.
 */
export async function askProjectApp(
  c: AppContext,
  next: Next,
  { builtIn, principal }: Asked,
): Promise<Response | void> {
  const { raw, method, path } = c.req;
  const isBuiltIn = hasRoute(builtIn, method === "HEAD" ? "GET" : method, path);
  const body = isBuiltIn ? await bodyOf(c) : raw.body;
  const answer = await answerOf(c, body, principal);
  // A plain object with `fetch` has no other way to say that it has no such route.
  const hasNone = answer.status === 404 && (isBuiltIn || answer.headers.has(NO_ROUTE_HEADER));
  if (!hasNone) {
    c.set("isOfApp", true);
    return toAnswer(c, answer);
  }
  await answer.body?.cancel();
  const left = isBuiltIn ? body : null;
  c.req.raw = new Request(raw.url, {
    method,
    headers: raw.headers,
    body: left,
    signal: raw.signal,
  });
  await next();
  if (answer.headers.has(NO_ROUTE_HEADER)) addHeaders(c, answerHeaders(c, answer.headers));
}

/** What the app's middleware says beside an answer of the platform; what its body is the platform knows itself. */
function addHeaders(c: AppContext, headers: Headers): void {
  if (c.res.webSocket) return;
  for (const [name, value] of headers) {
    if (!name.startsWith("content-")) c.header(name, value, { append: name === "set-cookie" });
  }
}

async function bodyOf(c: AppContext): Promise<Uint8Array | null> {
  if (c.req.raw.body === null) return null;
  return readBody(c.req.raw, c.var.settings.maxBodyBytes);
}

/** Whatever the app does, its first byte comes in time, or nobody waits for it any more. */
async function answerOf(
  c: AppContext,
  body: BodyInit | null,
  principal: Principal | null,
): Promise<Response> {
  const limitMs = parseSettings(c.env).deployedCallMs;
  const given = new AbortController();
  const request = appRequest(c, body, given.signal);
  return withTimeout(limitMs, appOf(c, principal).fetch(request), () => {
    given.abort();
    throw new ApiError(
      "timed_out",
      `The project's code did not answer the request within ${limitMs / 1000} seconds`,
    );
  });
}

/** The request as the app sees it: below the deployment's address, and without keys of the platform. */
function appRequest(c: AppContext, body: BodyInit | null, signal: AbortSignal): Request {
  const shown = shownRequest(c.req.raw);
  const url = new URL(shown.url);
  url.pathname = c.req.path;
  const headers = new Headers(shown.headers.map(({ name, value }) => [name, value]));
  headers.set("x-request-id", c.var.requestId);
  return new Request(url, { method: shown.method, headers, body, redirect: "manual", signal });
}

function appOf(c: AppContext, principal: Principal | null): Pick<Fetcher, "fetch"> {
  const { exports } = c.executionCtx as { exports?: Cloudflare.Exports };
  if (exports === undefined) throw new Error("The platform gives no ctx.exports");
  const props = { ...requestedScope(c), ...c.get("scope"), principal };
  const { revision } = c.var;
  return revision === null
    ? exports.GraphHost({ props })
    : loadApp(c.env, exports, revision, props);
}

function toAnswer(
  c: AppContext,
  { status, statusText, headers, body, webSocket }: Response,
): Response {
  const kept = answerHeaders(c, headers);
  if (webSocket) return new Response(null, { status, headers: kept, webSocket });
  return new Response(body, { status, statusText, headers: kept });
}

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
function answerHeaders(c: AppContext, headers: Headers): Headers {
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
