import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../http/app-types.ts";
import { uuidParam } from "../../http/path-params.ts";
import { createRouter } from "../../http/router.ts";
import { ApiError } from "../../lib/api-error.ts";
import { DEFAULT_DEPLOYMENT_ID, type Scope } from "../../lib/scope.ts";
import { toIso } from "../../lib/time.ts";
import { deploymentName } from "../deployment-name.ts";
import { rotateSigningKey, type SigningKeys, signingKeys } from "./signing-keys.ts";

/** Routes of the keys that sign a deployment's webhooks. They require a key of the deployment's workspace. */
export const webhookKeyRoutes = createRouter();

const path = "/deployments/{deployment_id}/webhook-key";

const params = z.object({
  deployment_id: z.union([z.literal(DEFAULT_DEPLOYMENT_ID), uuidParam()]).openapi({
    description: `A deployment's id, or \`${DEFAULT_DEPLOYMENT_ID}\` for the project that the server was built with`,
  }),
});

const keySchema = z
  .object({
    key: z.string(),
    created_at: z.iso.datetime(),
    previous_key: z.string().nullable(),
    previous_expires_at: z.iso.datetime().nullable(),
  })
  .openapi("WebhookKey");

const responses = {
  200: {
    description: "The key, and the previous one while it still signs",
    content: { "application/json": { schema: keySchema } },
  },
};

webhookKeyRoutes.openapi(
  createRoute({
    method: "get",
    path,
    tags: ["Webhooks"],
    summary: "Read the key that signs the webhooks of a deployment",
    request: { params },
    responses,
  }),
  async (c) => {
    const scope = await requireScope(c, c.req.valid("param").deployment_id);
    c.header("cache-control", "no-store");
    return c.json(toKeyJson(await signingKeys(c.env, scope)), 200);
  },
);

webhookKeyRoutes.openapi(
  createRoute({
    method: "post",
    path: `${path}/rotate`,
    tags: ["Webhooks"],
    summary: "Create a new key; the previous one still signs for a day",
    request: { params },
    responses,
  }),
  async (c) => {
    const scope = await requireScope(c, c.req.valid("param").deployment_id);
    c.header("cache-control", "no-store");
    return c.json(toKeyJson(await rotateSigningKey(c.env, scope)), 200);
  },
);

async function requireScope(c: AppContext, deploymentId: string): Promise<Scope> {
  const scope = { workspaceId: c.var.scope.workspaceId, deploymentId };
  if ((await deploymentName(c.env.DB, scope)) !== null) return scope;
  throw new ApiError("not_found", "Deployment not found");
}

function toKeyJson({ current, created_at, previous }: SigningKeys): z.infer<typeof keySchema> {
  return {
    key: current,
    created_at: toIso(created_at),
    previous_key: previous?.key ?? null,
    previous_expires_at: previous === null ? null : toIso(previous.expires_at),
  };
}
