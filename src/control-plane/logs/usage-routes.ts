import { createRoute } from "@hono/zod-openapi";
import { createRouter } from "../../http/router.ts";
import { startOfDay } from "../../lib/utc-day.ts";
import { requireDeployment } from "./log-routes.ts";
import { deploymentParams, usageQuery, usageSchema } from "./log-schemas.ts";
import { logStub } from "../../deployment-log/log-stub.ts";

export const usageRoutes = createRouter();

usageRoutes.openapi(
  createRoute({
    method: "get",
    path: "/deployments/{deployment_id}/usage",
    tags: ["Deployment logs"],
    summary:
      "List what a deployment's code used of the network and of the store, by day, the newest first",
    request: { params: deploymentParams, query: usageQuery },
    responses: {
      200: {
        description: "The days on which it used something",
        content: { "application/json": { schema: usageSchema } },
      },
    },
  }),
  async (c) => {
    const scope = await requireDeployment(c, c.req.valid("param").deployment_id);
    const { limit, offset } = c.req.valid("query");
    const days = await logStub(c.env, scope).listUsage({ limit, offset });
    const resources = days.map(({ day, ...usage }) => Object.assign({ day: isoDay(day) }, usage));
    return c.json({ resources, offset: offset + resources.length }, 200);
  },
);

function isoDay(day: number): string {
  return new Date(startOfDay(day) / 1000).toISOString().slice(0, 10);
}
