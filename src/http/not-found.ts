import type { Hono } from "hono";
import type { AppContext, AppEnv } from "./app-types.ts";
import { ApiError } from "../lib/api-error.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** What to throw where no route matched: 405 when the path exists with another method. */
export function noRoute(app: Pick<Hono<AppEnv>, "router">, c: AppContext): ApiError {
  const allowed = METHODS.filter((method) => hasRoute(app, method, c.req.path));
  if (allowed.length === 0) return new ApiError("not_found", "Not Found");
  c.header("allow", allowed.join(", "));
  return new ApiError("method_not_allowed", "Method Not Allowed");
}

/** Whether there is a route, and no middleware alone, for a path as it is routed. */
export function hasRoute(app: Pick<Hono<AppEnv>, "router">, method: string, path: string): boolean {
  const [matches] = app.router.match(method, path);
  // Middleware is registered for all methods.
  return matches.some(([[, route]]) => route.method !== "ALL");
}
