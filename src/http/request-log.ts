import { matchedRoutes } from "hono/route";
import { isUuid } from "../lib/uuid.ts";
import type { AppContext, AppEnv } from "./app-types.ts";
import type { MiddlewareHandler } from "hono";
import type { Settings } from "../env.ts";
import { log, type LogLevel } from "../lib/log.ts";
import type { Scope } from "../lib/scope.ts";

/** The state of an OAuth attempt is named like an id, but works like a key. */
const SECRET_IDS = new Set(["auth_id"]);

/**
 * Returns what the log may contain about a request's path: `route`, the pattern of its route, or null when it
 * matched none, and the ids in its path by their names. The route is `http.app` when a project's own app answered.
 * The path itself is not logged, because links that work without a key contain a token, and so may anything that a
 * client sends to an unknown address.
 */
export function loggedRoute(c: AppContext): Record<string, string | null> {
  if (c.get("isOfApp")) return { route: "http.app" };
  const route = matchedRoutes(c).find(({ method, path }) => method !== "ALL" && path !== "*")?.path;
  if (route === undefined) return { route: null };
  const segments = c.req.path.split("/");
  const ids = route.split("/").flatMap((part, index): [string, string][] => {
    const name = part.startsWith(":") ? part.slice(1) : "";
    const value = segments[index] ?? "";
    return name.endsWith("_id") && !SECRET_IDS.has(name) && isUuid(value) ? [[name, value]] : [];
  });
  return { route, ...Object.fromEntries(ids) };
}

/** A request id sent by the caller is kept when it is short and harmless, so that the logs of both sides match. */
const SANE_ID = /^[\w.:-]{1,128}$/;

/** Assigns an id to each request and, once it is answered, writes one line of JSON to the log. */
export const requestLog: MiddlewareHandler<AppEnv> = async (c, next) => {
  const startedAt = Date.now();
  const given = c.req.header("x-request-id");
  const requestId = given !== undefined && SANE_ID.test(given) ? given : crypto.randomUUID();
  c.set("requestId", requestId);
  await next();
  if (c.get("isForwarded")) return;
  // The header is set on the response itself: `c.header` would copy it with all of its headers.
  c.res.headers.set("x-request-id", requestId);
  // These are undefined when the request ended before they were set.
  const scope: Scope | undefined = c.get("scope");
  const settings: Settings | undefined = c.get("settings");
  const route = loggedRoute(c);
  log(settings?.logLevel ?? "info", levelOf(c.res.status, route["route"] ?? null), {
    event: "request",
    request_id: requestId,
    method: c.req.method,
    ...route,
    status: c.res.status,
    ms: Date.now() - startedAt,
    workspace: scope?.workspaceId,
    ...c.get("loggedHeaders"),
  });
};

/** Monitors, load balancers and the CLI's own start request this route all the time. */
const HEALTH_CHECK = "/ok";

function levelOf(status: number, route: string | null): LogLevel {
  if (status >= 500) return "error";
  if (status >= 400) return "warn";
  return route === HEALTH_CHECK ? "debug" : "info";
}
