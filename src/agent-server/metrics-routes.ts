import { createRoute, z } from "@hono/zod-openapi";
import { countThreads } from "../db/threads-repo.ts";
import { createRouter } from "../http/router.ts";
import { isStudio } from "./auth/authenticate.ts";
import { ApiError } from "../lib/api-error.ts";
import { THREAD_STATUSES, type ThreadStatus } from "./threads/storage/thread-record.ts";

/** Figures of one deployment, for who runs it: there is no server whose workers could be counted. */
export const metricsRoutes = createRouter();

const METRIC = "threadworks_threads";

const metricsSchema = z.object({ threads: z.record(z.string(), z.int()) }).openapi("Metrics");

metricsRoutes.openapi(
  createRoute({
    method: "get",
    path: "/metrics",
    tags: ["System"],
    summary: "How many threads there are by status, for Prometheus or as JSON",
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
      throw new ApiError("forbidden", "Metrics are for keys of the workspace, not for users");
    }
    const counts = await Promise.all(
      THREAD_STATUSES.map(async (status): Promise<[ThreadStatus, number]> => {
        const count = await countThreads(c.env.DB, c.var.scope, { status, access: null });
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
