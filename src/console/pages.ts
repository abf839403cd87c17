import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../http/app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import { consoleConfig } from "./console-config.ts";
import { consoleFile } from "./console-file.ts";
import { consoleTarget } from "./console-target.ts";
import { contentSecurityPolicy } from "./content-security-policy.ts";

const IMMUTABLE = "public, max-age=31536000, immutable";

/**
 * The console, and where links lead that answers and the official clients have. These are no routes: a deployment may
 * have paths of the same names on its own host.
 */
export const consolePages: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { surface, path } = c.var.arrival;
  if (surface !== "tracing" || !["GET", "HEAD"].includes(c.req.method)) return next();
  const target = consoleTarget(path);
  switch (target?.kind) {
    case undefined:
      return next();
    case "redirect":
      return c.redirect(target.to);
    case "config":
      c.header("cache-control", "no-store");
      return c.json(consoleConfig(c.var.settings));
    case "asset":
      return asset(c, target.file);
    case "page":
      return page(c);
  }
};

async function asset(c: AppContext, name: string): Promise<Response> {
  const file = await consoleFile(c.env.CONSOLE, `assets/${name}`);
  if (file === null) throw new ApiError("not_found", "Not Found");
  file.headers.set("cache-control", IMMUTABLE);
  return file;
}

/** The app itself, whatever page of it the path names: it reads the path. */
async function page(c: AppContext): Promise<Response> {
  const file = await consoleFile(c.env.CONSOLE, "index.html");
  if (file === null) {
    throw new ApiError("unavailable", "The console is not built: run npm run build");
  }
  file.headers.set("cache-control", "no-cache");
  file.headers.set("content-security-policy", contentSecurityPolicy(c.var.settings.hosts));
  file.headers.set("cross-origin-opener-policy", "same-origin");
  file.headers.set("referrer-policy", "no-referrer");
  return file;
}
