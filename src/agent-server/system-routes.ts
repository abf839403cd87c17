import { probeWrite } from "../db/workspaces-repo.ts";
import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../http/app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import { booleanParam } from "../http/query-params.ts";
import { createRouter } from "../http/router.ts";
import { storageFull } from "../http/storage-full.ts";
import { isDiskFull } from "../lib/local-disk.ts";
import { LANGGRAPH_VERSION, VERSION } from "../lib/version.ts";
import { countThreads } from "../db/threads-repo.ts";
import { isStudio } from "./auth/authenticate.ts";
import { THREAD_STATUSES, type ThreadStatus } from "./threads/storage/thread-record.ts";
import { threadDatabase, threadDatabases } from "./threads/index/thread-databases.ts";

/** Routes for health and version, used by load balancers and SDKs without a key. */
export const systemRoutes = createRouter();

systemRoutes.openapi(
  createRoute({
    method: "get",
    path: "/ok",
    tags: ["System"],
    summary: "Check whether the server works, and optionally whether its database accepts writes",
    security: [],
    request: { query: z.strictObject({ check_db: booleanParam().optional() }) },
    responses: {
      200: {
        description: "It works",
        content: { "application/json": { schema: z.object({ ok: z.literal(true) }) } },
      },
      503: { description: "The database does not answer" },
      507: { description: "The storage is full" },
    },
  }),
  async (c) => {
    if (c.req.valid("query").check_db === true) await probeDatabase(c);
    return c.json({ ok: true } as const, 200);
  },
);

const infoSchema = z
  .object({
    version: z.string(),
    langgraph_js_version: z.string(),
    context: z.literal("js"),
    flags: z.record(z.string(), z.boolean()),
  })
  .openapi("Info");

systemRoutes.openapi(
  createRoute({
    method: "get",
    path: "/info",
    tags: ["System"],
    summary: "Versions, and what the server can do",
    security: [],
    responses: {
      200: { description: "Info", content: { "application/json": { schema: infoSchema } } },
    },
  }),
  (c) =>
    c.json(
      {
        version: VERSION,
        langgraph_js_version: LANGGRAPH_VERSION,
        context: "js" as const,
        flags: {
          assistants: true,
          crons: true,
          mcp: true,
          a2a: true,
          langsmith: false,
          langsmith_tracing_replicas: false,
        },
      },
      200,
    ),
);

async function probeDatabase(c: AppContext): Promise<void> {
  try {
    for (const { database } of threadDatabases(c.env)) await probeWrite(database, Date.now());
  } catch (cause) {
    throw new ApiError("unavailable", "The database does not answer", { cause });
  }
  if (await isDiskFull(c.env)) throw storageFull();
}

/** Route for the metrics of one deployment. There is no server process whose workers could be counted. */
export const metricsRoutes = createRouter();

const METRIC = "threadworks_threads";

const metricsSchema = z.object({ threads: z.record(z.string(), z.int()) }).openapi("Metrics");

metricsRoutes.openapi(
  createRoute({
    method: "get",
    path: "/metrics",
    tags: ["System"],
    summary: "Count the threads by status, for Prometheus or as JSON",
    request: {
      query: z.strictObject({ format: z.enum(["prometheus", "json"]).default("prometheus") }),
    },
    responses: {
      200: {
        description: "The figures",
        content: {
          "text/plain": { schema: z.string() },
          "application/json": { schema: metricsSchema },
        },
      },
    },
  }),
  async (c) => {
    const { principal } = c.var;
    if (principal !== null && !isStudio(principal)) {
      throw new ApiError(
        "forbidden",
        "Metrics require a key of the workspace and are not available to users",
      );
    }
    const database = threadDatabase(c.env, c.var.scope);
    const counts = await Promise.all(
      THREAD_STATUSES.map(async (status): Promise<[ThreadStatus, number]> => {
        const count = await countThreads(database, c.var.scope, { status, access: null });
        return [status, count ?? 0];
      }),
    );
    if (c.req.valid("query").format === "json") {
      return c.json({ threads: Object.fromEntries(counts) }, 200);
    }
    return c.text(prometheus(counts), 200);
  },
);

/** The text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats */
function prometheus(counts: [ThreadStatus, number][]): string {
  const samples = counts.map(([status, count]) => `${METRIC}{status="${status}"} ${count}`);
  return [
    `# HELP ${METRIC} Threads of the deployment by status; busy ones have runs in flight.`,
    `# TYPE ${METRIC} gauge`,
    ...samples,
    "",
  ].join("\n");
}
