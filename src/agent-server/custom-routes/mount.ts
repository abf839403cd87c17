import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppContext, AppEnv } from "../../http/app-types.ts";
import { agentAuthentication } from "../auth/authenticate.ts";
import { projectOf, requestedProject, requestedScope } from "../auth/requested-project.ts";
import { uiFileRoutes } from "../generative-ui/routes.ts";
import { chosenHeaders } from "./chosen-headers.ts";
import { disabledMeta, disabledRoutes } from "./disabled-routes.ts";
import type { Hono, MiddlewareHandler } from "hono";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { askProjectApp } from "./ask-app.ts";

/**
 * Mounts what runs before the agent server's own routes: finding the project, authentication, and the project's
 * own app. The order matters: routes that need no authentication come before it.
 */
export function mountProjectHttp(app: OpenAPIHono<AppEnv>): void {
  app.use(requestedProject);
  app.use(mountPrefix(app));
  app.use(openApp(app));
  app.route("/", uiFileRoutes);
  app.use(agentAuthentication);
  app.use(chosenHeaders);
  app.use(authenticatedApp(app));
  app.use(disabledRoutes);
}

/** Disables the given paths, which are about the installation, for projects that do not want them. */
export function withoutDisabledMeta(app: OpenAPIHono<AppEnv>, paths: readonly string[]): void {
  app.on("GET", [...paths], disabledMeta);
}

type BuiltIn = Pick<Hono<AppEnv>, "router">;

/** Serves a project's own app without authentication, if the app decides about access by itself. */
function openApp(builtIn: BuiltIn): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (!isOpen(c)) return next();
    await admitWorkspace(c, requestedScope(c).workspaceId);
    return askProjectApp(c, next, { builtIn, principal: null });
  };
}

/** Serves the project's own app to authenticated callers. */
function authenticatedApp(builtIn: BuiltIn): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (projectOf(c).description.http?.app !== true || isOpen(c)) return next();
    return askProjectApp(c, next, { builtIn, principal: c.var.principal });
  };
}

/**
 * Whether the app is called without authentication. A server without keys never does this, because its
 * authentication refuses requests from foreign pages, which must hold for the app, too.
 */
function isOpen(c: AppContext): boolean {
  const { deployment, description } = projectOf(c);
  const { http, auth } = description;
  if (http === null || !http.app || http.app_auth) return false;
  return deployment !== null || auth !== null || c.var.settings.agentAuth !== "none";
}

/** Requests whose prefix has been removed: a path that has the prefix twice is not shortened twice. */
const shortened = new WeakSet<Request>();

/**
 * Serves all paths also below the project's prefix, as if the request had been made without it: proxies pass the
 * prefix on, but clients inside the deployment do not know it.
 */
function mountPrefix(app: Pick<Hono<AppEnv>, "fetch">): MiddlewareHandler<AppEnv> {
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
    // The inner request is checked for private hosts by itself, so the check of this one is skipped.
    c.set("admitted", true);
    return app.fetch(request, c.env, c.executionCtx);
  };
}
