import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "../../http/app-types.ts";
import { agentAuthentication } from "../auth/authenticate.ts";
import { requestedProject } from "../auth/requested-project.ts";
import { uiFileRoutes } from "../generative-ui/file-routes.ts";
import { authenticatedApp, openApp } from "./app-routes.ts";
import { chosenHeaders } from "./chosen-headers.ts";
import { disabledMeta, disabledRoutes } from "./disabled-routes.ts";
import { mountPrefix } from "./mount-prefix.ts";

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
