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
 * Calls the project's own app, and continues with the built-in routes if the app has no route for the request. If
 * the path is also a built-in route, the body is read beforehand, because that route may need it; any other body
 * is streamed to the app.
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
  // An app that is a plain object with `fetch` can only report a missing route with a 404.
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

/** Adds the headers that the app's middleware set to the platform's response. Headers about the body are left out. */
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

/**
 * Returns the app's response. Throws "timed_out", and aborts the request, if its first byte does not come in time.
 */
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

/**
 * Returns the request as the app sees it: with a path relative to the deployment, and without the platform's keys.
 */
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

/**
 * Headers that only the platform sets: those about the request, and those about which origins may read the
 * response.
 */
const OWN = /^(?:access-control-.*|x-request-id|x-ignored-fields|x-ratelimit-.*)$/;

/** Headers that a browser remembers for a whole origin. */
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

/** Content security policy that gives pages an opaque origin. */
const SANDBOX = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

const COOKIE_DOMAIN = /;\s*domain\s*=/i;

/**
 * Returns the headers of an app's response that are passed to the client. Deployments that differ only in their
 * path share an origin with each other and with the platform: there an app can set nothing for the origin, and its
 * pages cannot act with it. A deployment with its own host can set cookies for that host only.
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
