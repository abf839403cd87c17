import type { MiddlewareHandler } from "hono";
import type { Settings } from "../env.ts";
import { log, type LogLevel } from "../lib/log.ts";
import type { Scope } from "../lib/scope.ts";
import type { AppEnv } from "./app-types.ts";
import { loggedRoute } from "./logged-route.ts";

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
