import { matchedRoutes } from "hono/route";
import { isUuid } from "../lib/uuid.ts";
import type { AppContext, AppEnv } from "./app-types.ts";
import type { MiddlewareHandler } from "hono";
import type { Settings } from "../env.ts";
import { log, type LogLevel } from "../lib/log.ts";
import type { Scope } from "../lib/scope.ts";

/** The state of an OAuth attempt is named like an id, and as good as a key. */
const SECRET_IDS = new Set(["auth_id"]);

/**
 * What a log may tell of where a request went: `route`, the pattern of its route, null when it met none,
 * and the ids in its path by their names; `http.app` where a project's own app answered. The path itself stays out, because links that work without a key have their token
 * there, and so has whatever a client sends to an address that is none.
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

/** A caller's id is kept when it is short and harmless, so that logs of both sides match. */
const SANE_ID = /^[\w.:-]{1,128}$/;

/** Gives each request an id and, once answered, one line of JSON in the log. */
export const requestLog: MiddlewareHandler<AppEnv> = async (c, next) => {
  const startedAt = Date.now();
  const given = c.req.header("x-request-id");
  const requestId = given !== undefined && SANE_ID.test(given) ? given : crypto.randomUUID();
  c.set("requestId", requestId);
  await next();
  if (c.get("isForwarded")) return;
  // On the answer itself: `c.header` would copy it, and each of its headers.
  c.res.headers.set("x-request-id", requestId);
  // Not there when the request ended before they were set.
  const scope: Scope | undefined = c.get("scope");
  const settings: Settings | undefined = c.get("settings");
  log(settings?.logLevel ?? "info", levelOf(c.res.status), {
    event: "request",
    request_id: requestId,
    method: c.req.method,
    ...loggedRoute(c),
    status: c.res.status,
    ms: Date.now() - startedAt,
    workspace: scope?.workspaceId,
    ...c.get("loggedHeaders"),
  });
};

function levelOf(status: number): LogLevel {
  if (status >= 500) return "error";
  return status >= 400 ? "warn" : "info";
}
