import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "../http/app-types.ts";
import { jsonBody } from "../http/json-body.ts";
import { workspaceScope } from "../identity/authenticate.ts";
import { attachmentRoutes } from "./attachments/routes.ts";
import { feedbackConfigRoutes } from "./feedback/config-routes.ts";
import { feedbackRoutes } from "./feedback/routes.ts";
import { feedbackTokenRoutes } from "./feedback/token-routes.ts";
import { infoRoutes } from "./info-routes.ts";
import { ingestRoutes } from "./ingest/routes.ts";
import { modelPriceRoutes } from "./model-prices/routes.ts";
import { otlpRoutes } from "./otlp/routes.ts";
import { projectRoutes } from "./projects/routes.ts";
import { runsQueryRoutes } from "./query/runs-query-routes.ts";
import { statsRoutes } from "./query/stats-routes.ts";
import { threadGroupRoutes } from "./query/thread-routes.ts";
import { tracedRunRoutes } from "./runs/run-routes.ts";
import { publicQueryRoutes } from "./shares/public-query-routes.ts";
import { publicRunRoutes, shareRoutes } from "./shares/routes.ts";
import { publicV2Routes, tracingV2Routes } from "./v2/routes.ts";

export const TRACING_V1 = "/api/v1";
export const TRACING_V2 = "/api/v2";

/** Paths of JSON routes that need no key. */
const WITHOUT_KEY = [
  `${TRACING_V1}/feedback/tokens/:token`,
  `${TRACING_V1}/public/:token/*`,
  `${TRACING_V2}/public/:token/*`,
];

/** The tracing API. Order matters: what needs no key, ingest with its own bodies, and the rest. */
export function mountTracing(app: OpenAPIHono<AppEnv>): void {
  app.route(TRACING_V1, infoRoutes);
  app.route(TRACING_V1, attachmentRoutes);
  for (const path of WITHOUT_KEY) app.use(path, jsonBody);
  app.route(TRACING_V1, feedbackTokenRoutes);
  app.route(TRACING_V1, publicRunRoutes);
  app.route(TRACING_V1, publicQueryRoutes);
  app.route(TRACING_V2, publicV2Routes);
  for (const prefix of [TRACING_V1, TRACING_V2]) app.use(`${prefix}/*`, workspaceScope);
  app.route(TRACING_V1, ingestRoutes);
  app.route(TRACING_V1, otlpRoutes);
  for (const prefix of [TRACING_V1, TRACING_V2]) app.use(`${prefix}/*`, jsonBody);
  for (const routes of [
    // Before the runs: `/runs/query` is no run's id.
    runsQueryRoutes,
    statsRoutes,
    threadGroupRoutes,
    tracedRunRoutes,
    shareRoutes,
    projectRoutes,
    feedbackRoutes,
    feedbackConfigRoutes,
    modelPriceRoutes,
  ]) {
    app.route(TRACING_V1, routes);
  }
  app.route(TRACING_V2, tracingV2Routes);
}
