import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "../http/app-types.ts";
import { destinationRoutes } from "./destinations/routes.ts";
import { exportRoutes } from "./exports/routes.ts";

/** Below the tracing API, whose authentication and bodies hold here too. */
export function mountBulkExport(app: OpenAPIHono<AppEnv>, prefix: string): void {
  // Before the exports: `destinations` is no export's id.
  app.route(prefix, destinationRoutes);
  app.route(prefix, exportRoutes);
}
