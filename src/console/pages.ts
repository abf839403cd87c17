import type { MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../http/app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import { consoleConfig, contentSecurityPolicy } from "./page-settings.ts";
import { consoleTarget } from "./console-target.ts";

const TYPES: Record<string, string> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

const IMMUTABLE = "public, max-age=31536000, immutable";

/**
 * Serves the console, and redirects the links that responses and the official clients contain. This is a
 * middleware instead of routes, because a deployment may have the same paths on its own host.
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

/** Serves the app for every page's path: the app itself reads the path. */
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

/**
 * Returns a file of the built console; null when there is none. The local server reads files from a folder and
 * knows no content types, so they are set here for both platforms.
 */
async function consoleFile(files: Fetcher, path: string): Promise<Response | null> {
  const type = TYPES[path.slice(path.lastIndexOf(".") + 1)];
  if (type === undefined) return null;
  const found = await files.fetch(new URL(path, "https://console/"));
  if (!found.ok) {
    await found.body?.cancel();
    return null;
  }
  return new Response(found.body, {
    headers: { "content-type": type, "x-content-type-options": "nosniff" },
  });
}
