import type { MiddlewareHandler } from "hono";
import { parseSettings } from "../env.ts";
import { arrivalOf } from "../front-door/arrival.ts";
import { isPathOf } from "../front-door/surface.ts";
import { ApiError } from "../lib/api-error.ts";
import type { FindKey } from "../lib/principal.ts";
import type { AppEnv } from "./app-types.ts";

type FindKeyIn = (env: Env) => FindKey;

/** Reads the settings and the request for all later handlers. Throws a 400 when `Host` is not a single host. */
export function readArrival(findKeyIn: FindKeyIn): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const settings = parseSettings(c.env);
    c.set("settings", settings);
    const arrival = arrivalOf(c.req.raw, settings, findKeyIn(c.env));
    if (arrival === null) {
      throw new ApiError(
        "bad_request",
        "The header Host must be one host name, with a port or without",
      );
    }
    c.set("arrival", arrival);
    await next();
  };
}

/** Throws a 404 for a path that the request's host does not serve. */
export const knownSurface: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { surface, path } = c.var.arrival;
  // Health checks are accepted on any host, or by address.
  if (path !== "/ok" && !isPathOf(surface, path)) throw new ApiError("not_found", "Not Found");
  await next();
};

/**
 * Returns the function that yields the path by which a request is routed. A request that is refused before routing
 * keeps its own path.
 */
export function pathOf(findKeyIn: FindKeyIn) {
  return (request: Request, options?: { env?: object }): string => {
    const fallback = URL.parse(request.url)?.pathname ?? "/";
    // Hono leaves the type of the bindings open; the runtime always passes the Worker's.
    const env = options?.env as Env | undefined;
    if (env === undefined) return fallback;
    try {
      return arrivalOf(request, parseSettings(env), findKeyIn(env))?.path ?? fallback;
    } catch {
      // Settings that cannot be read are reported where errors are rendered.
      return fallback;
    }
  };
}
