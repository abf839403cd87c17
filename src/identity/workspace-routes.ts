import { createRoute, z } from "@hono/zod-openapi";
import { selectWorkspace } from "../db/workspaces-repo.ts";
import { countDeployments } from "../db/deployments-repo.ts";
import type { Settings } from "../env.ts";
import type { AppContext } from "../http/app-types.ts";
import { createRouter } from "../http/router.ts";
import { ApiError } from "../lib/api-error.ts";
import { PLANS } from "../lib/plan-order.ts";
import { REGIONS } from "../lib/region.ts";
import { toIso } from "../lib/time.ts";
import { LIMIT_ROWS } from "../rate-limits/policy.ts";
import { planQuota } from "./plan-quotas.ts";
import { workspacePlan } from "./workspace-plan.ts";

/** Routes for the workspace of the request's key. A key belongs to exactly one. */
export const workspaceRoutes = createRouter();

const tags = ["Workspaces"];

const facts = {
  id: z.uuid(),
  display_name: z.string(),
  created_at: z.iso.datetime(),
  is_personal: z.literal(false),
  is_deleted: z.literal(false),
  read_only: z.literal(false),
};

const workspaceSchema = z.object(facts).openapi("TenantForUser");

const limitSchema = z.object({
  name: z.string().openapi({ description: "The name of the limit in the RateLimit header" }),
  category: z.string(),
  count: z.int(),
  seconds: z.int(),
});

const currentSchema = z
  .object({
    ...facts,
    region: z.enum(REGIONS),
    plan: z.enum(PLANS),
    deployments: z.object({ count: z.int(), limit: z.int() }),
    exports_at_once: z.int(),
    rate_limits: z.array(limitSchema).nullable().openapi({
      description: "The limits that are counted for each key. Null when rate limits are off",
    }),
  })
  .openapi("CurrentWorkspace");

workspaceRoutes.openapi(
  createRoute({
    method: "get",
    path: "/workspaces",
    tags,
    summary: "List the workspaces of the key: a key has exactly one",
    responses: {
      200: {
        description: "The workspace",
        content: { "application/json": { schema: z.array(workspaceSchema) } },
      },
    },
  }),
  async (c) => c.json([await readWorkspace(c)], 200),
);

workspaceRoutes.openapi(
  createRoute({
    method: "get",
    path: "/workspaces/current",
    tags,
    summary: "Get the workspace of the key, its plan and its limits",
    responses: {
      200: {
        description: "The workspace",
        content: { "application/json": { schema: currentSchema } },
      },
    },
  }),
  async (c) => {
    const { workspaceId } = c.var.scope;
    const { settings } = c.var;
    const plan = await workspacePlan(c.env, workspaceId);
    const quota = planQuota(settings, plan);
    const count = await countDeployments(c.env.DB, workspaceId);
    return c.json(
      {
        ...(await readWorkspace(c)),
        region: settings.region,
        plan,
        deployments: { count, limit: quota.deployments },
        exports_at_once: quota.exports_at_once,
        rate_limits: settings.rateLimits ? limitsOf(settings, workspaceId) : null,
      },
      200,
    );
  },
);

async function readWorkspace(c: AppContext) {
  const row = await selectWorkspace(c.env.DB, c.var.scope.workspaceId);
  if (row === undefined) throw new ApiError("not_found", "Workspace not found");
  return {
    id: row.id,
    display_name: row.name,
    created_at: toIso(row.created_at),
    is_personal: false as const,
    is_deleted: false as const,
    read_only: false as const,
  };
}

function limitsOf({ region, rateLimitOverrides }: Settings, workspaceId: string) {
  const overrides = rateLimitOverrides.get(workspaceId);
  return LIMIT_ROWS.filter(({ by }) => by === "api-key").map((row) => {
    const { name, category } = row;
    const { count, seconds } = overrides?.get(name) ?? row[region];
    return { name, category, count, seconds };
  });
}
