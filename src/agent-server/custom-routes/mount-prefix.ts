import type { Hono, MiddlewareHandler } from "hono";
import type { AppEnv } from "../../http/app-types.ts";
import { projectOf } from "../auth/requested-project.ts";

/** Requests that were made of others: a path that has the prefix twice is not shortened twice. */
const shortened = new WeakSet<Request>();

/**
 * Serves all paths below the project's prefix, too, as the request without it would be: proxies hand it on,
 * and clients inside of the deployment do not know it.
 */
export function mountPrefix(app: Pick<Hono<AppEnv>, "fetch">): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const prefix = projectOf(c).description.http?.mount_prefix ?? null;
    const { path, raw } = c.req;
    if (prefix === null || shortened.has(raw)) return next();
    if (path !== prefix && !path.startsWith(`${prefix}/`)) return next();
    const url = new URL(raw.url);
    const before = url.pathname.slice(0, url.pathname.length - path.length);
    url.pathname = before + (path.slice(prefix.length) || "/");
    const request = new Request(url, raw);
    shortened.add(request);
    c.set("isForwarded", true);
    // It asks by itself whether a private host may answer.
    c.set("admitted", true);
    return app.fetch(request, c.env, c.executionCtx);
  };
}
