import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "../http/app-types.ts";
import { destinationRoutes } from "./destinations/routes.ts";
import { exportRoutes } from "./exports/routes.ts";

/** Mounts the routes below the tracing API, whose authentication and body parsing apply to them too. */
export function mountBulkExport(app: OpenAPIHono<AppEnv>, prefix: string): void {
  // This router comes first, because `destinations` would match as the id of an export.
  app.route(prefix, destinationRoutes);
  app.route(prefix, exportRoutes);
}
