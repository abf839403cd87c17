import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "../http/app-types.ts";
import { jsonBody } from "../http/json-body.ts";
import { workspaceScope } from "../identity/authenticate.ts";
import { deploymentRoutes } from "./deployments/routes.ts";
import { integrationRoutes } from "./integrations/routes.ts";
import { logRoutes, usageRoutes } from "./logs/log-routes.ts";
import { authenticateRoutes } from "./oauth/authenticate-routes.ts";
import { callbackRoutes, finalizeRoutes } from "./oauth/callback-routes.ts";
import { connectionRoutes } from "./oauth/connection-routes.ts";
import { providerRoutes } from "./oauth/provider-routes.ts";
import { tokenRoutes } from "./oauth/token-routes.ts";
import { pushRoutes } from "./deployments/push-routes.ts";
import { revisionRoutes } from "./deployments/revision-routes.ts";
import { signedUploadRoutes, uploadRoutes } from "./deployments/upload-routes.ts";

const CONTROL_PLANE = "/v2";
/** The prefix at which the ecosystem's tools still request logs and repositories. */
const CONTROL_PLANE_V1 = "/v1";

/**
 * Mounts the control plane. The order matters: routes without a key come before the middleware that requires one.
 */
export function mountControlPlane(app: OpenAPIHono<AppEnv>): void {
  app.route(CONTROL_PLANE, callbackRoutes);
  app.route(CONTROL_PLANE, signedUploadRoutes);
  app.route(CONTROL_PLANE, pushRoutes);
  app.use(`${CONTROL_PLANE}/*`, workspaceScope, jsonBody);
  for (const routes of [
    providerRoutes,
    authenticateRoutes,
    finalizeRoutes,
    tokenRoutes,
    connectionRoutes,
  ]) {
    app.route(CONTROL_PLANE, routes);
  }
  for (const routes of [uploadRoutes, deploymentRoutes, revisionRoutes]) {
    app.route(CONTROL_PLANE, routes);
  }
  app.route(CONTROL_PLANE, logRoutes("/deployments"));
  app.route(CONTROL_PLANE, usageRoutes);
  app.use(`${CONTROL_PLANE_V1}/integrations/*`, workspaceScope, jsonBody);
  app.route(CONTROL_PLANE_V1, integrationRoutes);
  app.use(`${CONTROL_PLANE_V1}/projects/*`, workspaceScope, jsonBody);
  app.route(CONTROL_PLANE_V1, logRoutes("/projects"));
}
