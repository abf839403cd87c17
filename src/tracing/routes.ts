import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppContext, AppEnv } from "../http/app-types.ts";
import { jsonBody } from "../http/json-body.ts";
import { workspaceScope } from "../identity/authenticate.ts";
import { attachmentRoutes } from "./api/links.ts";
import { feedbackConfigRoutes } from "./api/v1/feedback/config-routes.ts";
import { feedbackRoutes } from "./api/v1/feedback/routes.ts";
import { feedbackTokenRoutes } from "./api/v1/feedback/token-routes.ts";
import { infoRoutes } from "./api/v1/info-routes.ts";
import { ingestRoutes } from "./api/v1/ingest/routes.ts";
import { modelPriceRoutes } from "./api/v1/model-prices/routes.ts";
import { otlpRoutes } from "./api/v1/ingest/otlp-routes.ts";
import { projectRoutes } from "./api/v1/projects/routes.ts";
import { runsQueryRoutes } from "./api/v1/queries/runs-query-routes.ts";
import { statsRoutes } from "./api/v1/queries/stats-routes.ts";
import { threadGroupRoutes } from "./api/v1/queries/thread-routes.ts";
import { tracedRunRoutes } from "./api/v1/runs/routes.ts";
import { publicQueryRoutes, publicRunRoutes } from "./api/v1/shares/public-routes.ts";
import { shareRoutes } from "./api/v1/shares/routes.ts";
import { runV2Routes } from "./api/v2/runs-routes.ts";
import { publicV2Routes, shareV2Routes } from "./api/v2/share-routes.ts";
import { threadV2Routes } from "./api/v2/threads-routes.ts";
import { traceV2Routes } from "./api/v2/traces-routes.ts";
import { renderDetail } from "../http/render-errors.ts";
import { problemDetails } from "./api/v2/problem-details.ts";

export const TRACING_V1 = "/api/v1";
export const TRACING_V2 = "/api/v2";

/** Paths of JSON routes that need no API key. */
const WITHOUT_KEY = [
  `${TRACING_V1}/feedback/tokens/:token`,
  `${TRACING_V1}/public/:token/*`,
  `${TRACING_V2}/public/:token/*`,
];

/** Mounts the tracing API. Order matters: routes without a key, ingest with its own bodies, and the rest. */
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
    // This comes before the runs, so that `/runs/query` is not taken for a run's id.
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
  // A response contains what was selected, and errors are problem details.
  for (const routes of [runV2Routes, traceV2Routes, threadV2Routes, shareV2Routes]) {
    app.route(TRACING_V2, routes);
  }
}

/** Renders the error as `application/problem+json`. */
export function renderProblem(error: Error, c: AppContext): Response {
  // This decides the status of every error, and logs unexpected ones.
  const plain = renderDetail(error, c);
  const { requestId } = c.var;
  const problem = problemDetails(error, { status: plain.status, path: c.req.path, requestId });
  const headers = new Headers(plain.headers);
  headers.set("content-type", "application/problem+json");
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}
