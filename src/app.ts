import type { OpenAPIHono } from "@hono/zod-openapi";
import { a2aRoutes } from "./agent-server/a2a/routes.ts";
import { assistantGraphRoutes } from "./agent-server/assistants/graph-routes.ts";
import { assistantRoutes } from "./agent-server/assistants/routes.ts";
import { agentCors } from "./agent-server/custom-routes/agent-cors.ts";
import { mountProjectHttp, withoutDisabledMeta } from "./agent-server/custom-routes/mount.ts";
import { cronRoutes } from "./agent-server/crons/routes.ts";
import { uiRoutes } from "./agent-server/generative-ui/routes.ts";
import { metricsRoutes, systemRoutes } from "./agent-server/system-routes.ts";
import { storeRoutes } from "./agent-server/store/routes.ts";
import { mcpRoutes } from "./agent-server/mcp/routes.ts";
import { threadRetentionRoutes } from "./agent-server/threads/retention-routes.ts";
import { threadSearchRoutes } from "./agent-server/thread-search/routes.ts";
import { threadStreamRoutes } from "./agent-server/thread-stream/routes.ts";
import { protocolRoutes } from "./agent-server/threads/commands/routes.ts";
import { runCreateRoutes } from "./agent-server/threads/run-create-routes.ts";
import { runRoutes } from "./agent-server/threads/run-routes.ts";
import { stateRoutes } from "./agent-server/threads/state-routes.ts";
import { threadRoutes } from "./agent-server/threads/thread-routes.ts";
import { webhookKeyRoutes } from "./agent-server/webhooks/key-routes.ts";
import { mountBulkExport } from "./bulk-export/routes.ts";
import { mountControlPlane } from "./control-plane/routes.ts";
import { consolePages } from "./console/pages.ts";
import { findKeyByHash } from "./db/workspaces-repo.ts";
import type { AppContext, AppEnv } from "./http/app-types.ts";
import { knownSurface, pathOf, readArrival } from "./http/arrival.ts";
import { describeApi, withErrors, withoutStrictness } from "./http/reference/openapi-document.ts";
import { IGNORED_FIELDS_HEADER, sayIgnoredFields } from "./http/ignored-fields.ts";
import { jsonBody } from "./http/json-body.ts";
import { createRouter, noRoute } from "./http/router.ts";
import { renderDetail } from "./http/render-errors.ts";
import { requestLog } from "./http/request-log.ts";
import { explainStorage } from "./http/storage-full.ts";
import type { FindKey } from "./lib/principal.ts";
import { VERSION } from "./lib/version.ts";
import { apiKeyRoutes } from "./identity/api-key-routes.ts";
import { workspaceScope } from "./identity/authenticate.ts";
import { planRoutes } from "./identity/billing-call.ts";
import { privateConnectivity } from "./identity/private-connectivity.ts";
import { workspaceRoutes } from "./identity/workspace-routes.ts";
import { RATE_LIMIT_HEADERS } from "./rate-limits/headers.ts";
import { rateLimits } from "./rate-limits/middleware.ts";
import { mountTracing, renderProblem, TRACING_V1, TRACING_V2 } from "./tracing/routes.ts";

const ALL_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const EXPOSED_HEADERS = [
  "content-location",
  "location",
  "x-pagination-total",
  "x-pagination-next",
  IGNORED_FIELDS_HEADER,
  "x-request-id",
  ...RATE_LIMIT_HEADERS,
];

const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** Paths that concern the installation, and not a workspace. */
const GENERAL_PATHS = ["/info", `${TRACING_V1}/info`, "/openapi.json", "/docs", "/docs/plain"];

/** Creates the app. The order matters: the first middleware sees the request first and the response last. */
export function createApp(): OpenAPIHono<AppEnv> {
  const app = createRouter({ getPath: pathOf(findKeyIn) });
  app.onError(renderError);
  app.notFound((c) => renderError(noRoute(app, c), c));
  app.use(requestLog);
  app.use(readArrival(findKeyIn));
  app.use(sayIgnoredFields);
  // Preflights are counted, too, and answered by `cors`.
  app.on("OPTIONS", "*", rateLimits);
  app.use(
    agentCors({
      origin: "*",
      allowMethods: ALL_METHODS,
      exposeHeaders: EXPOSED_HEADERS,
      maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    }),
  );
  app.use(rateLimits);
  app.use(knownSurface);
  app.use(privateConnectivity(GENERAL_PATHS, workspaceScope));
  withoutDisabledMeta(app, GENERAL_PATHS);
  app.route("/", systemRoutes);
  describeApi(app, openApiDocument(app));
  app.use(consolePages);
  app.route(TRACING_V1, planRoutes);
  mountTracing(app);
  mountBulkExport(app, TRACING_V1);
  app.route(TRACING_V1, apiKeyRoutes);
  app.route(TRACING_V1, workspaceRoutes);
  mountControlPlane(app);
  app.route("/v2", webhookKeyRoutes);
  mountProjectHttp(app);
  app.use(jsonBody);
  app.route("/", uiRoutes);
  app.route("/", assistantRoutes);
  app.route("/", assistantGraphRoutes);
  app.route("/", threadSearchRoutes);
  app.route("/", threadRetentionRoutes);
  app.route("/", threadRoutes);
  app.route("/", threadStreamRoutes);
  app.route("/", stateRoutes);
  app.route("/", runCreateRoutes);
  app.route("/", protocolRoutes);
  app.route("/", cronRoutes);
  app.route("/", runRoutes);
  app.route("/", storeRoutes);
  app.route("/", metricsRoutes);
  app.route("/", mcpRoutes);
  app.route("/", a2aRoutes);
  return app;
}

function findKeyIn({ DB }: Env): FindKey {
  return (hash) => findKeyByHash(DB, hash);
}

async function renderError(error: Error, c: AppContext): Promise<Response> {
  const told = await explainStorage(error, c.env);
  return c.req.path.startsWith(`${TRACING_V2}/`) ? renderProblem(told, c) : renderDetail(told, c);
}

/** Returns a function that creates the OpenAPI document from the routes when it is first called. */
function openApiDocument(app: OpenAPIHono<AppEnv>) {
  app.openAPIRegistry.registerComponent("securitySchemes", "ApiKey", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "Bearer", {
    type: "http",
    scheme: "bearer",
  });
  let document: ReturnType<typeof withoutStrictness> | null = null;
  return () =>
    (document ??= withErrors(
      withoutStrictness(
        app.getOpenAPI31Document({
          openapi: "3.1.0",
          info: { title: "Threadworks", version: VERSION },
          security: [{ ApiKey: [] }, { Bearer: [] }],
        }),
      ),
      TRACING_V2,
    ));
}
