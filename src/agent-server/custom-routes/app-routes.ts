import type { Hono, MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../../http/app-types.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { projectOf, requestedScope } from "../auth/requested-project.ts";
import { askApp } from "./ask-app.ts";

type BuiltIn = Pick<Hono<AppEnv>, "router">;

/** A project's own app, where it lets everybody in and decides by itself. */
export function openApp(builtIn: BuiltIn): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (!isOpen(c)) return next();
    await admitWorkspace(c, requestedScope(c).workspaceId);
    return askApp(c, next, { builtIn, principal: null });
  };
}

/** The app for whoever may use the agent server. */
export function authenticatedApp(builtIn: BuiltIn): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (projectOf(c).description.http?.app !== true || isOpen(c)) return next();
    return askApp(c, next, { builtIn, principal: c.var.principal });
  };
}

/** A server without keys lets in whom it lets in: its refusals of foreign pages hold for the app, too. */
function isOpen(c: AppContext): boolean {
  const { deployment, description } = projectOf(c);
  const { http, auth } = description;
  if (http === null || !http.app || http.app_auth) return false;
  return deployment !== null || auth !== null || c.var.settings.agentAuth !== "none";
}
