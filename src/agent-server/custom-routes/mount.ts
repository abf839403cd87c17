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
 * What comes before the agent server's own routes: which project the request is for, who asks, and the
 * project's own app. Order matters: what needs no caller is before the authentication.
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

/** The paths that are about the installation, where a project does not want them. */
export function withoutDisabledMeta(app: OpenAPIHono<AppEnv>, paths: readonly string[]): void {
  app.on("GET", [...paths], disabledMeta);
}

type BuiltIn = Pick<Hono<AppEnv>, "router">;

/** A project's own app, where it lets everybody in and decides by itself. */
function openApp(builtIn: BuiltIn): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (!isOpen(c)) return next();
    await admitWorkspace(c, requestedScope(c).workspaceId);
    return askProjectApp(c, next, { builtIn, principal: null });
  };
}

/** The app for whoever may use the agent server. */
function authenticatedApp(builtIn: BuiltIn): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (projectOf(c).description.http?.app !== true || isOpen(c)) return next();
    return askProjectApp(c, next, { builtIn, principal: c.var.principal });
  };
}

/** A server without keys lets in whom it lets in: its refusals of foreign pages hold for the app, too. */
function isOpen(c: AppContext): boolean {
  const { deployment, description } = projectOf(c);
  const { http, auth } = description;
  if (http === null || !http.app || http.app_auth) return false;
  return deployment !== null || auth !== null || c.var.settings.agentAuth !== "none";
}

/** Requests that were made of others: a path that has the prefix twice is not shortened twice. */
const shortened = new WeakSet<Request>();

/**
 * Serves all paths below the project's prefix, too, as the request without it would be: proxies hand it on,
 * and clients inside of the deployment do not know it.
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
    // It asks by itself whether a private host may answer.
    c.set("admitted", true);
    return app.fetch(request, c.env, c.executionCtx);
  };
}
