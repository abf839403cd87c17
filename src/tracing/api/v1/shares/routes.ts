import { createRoute, z } from "@hono/zod-openapi";
import { findShareOfRun, type RunShareRow, unshareRun } from "../../../../db/run-shares-repo.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { requireRun } from "../../../query/find-runs.ts";
import { shareOneRun } from "../../../query/shared-runs.ts";

export const shareRoutes = createRouter();

const runParams = z.object({ run_id: uuidParam() });

const shareSchema = z.object({ run_id: z.string(), share_token: z.string() }).openapi("RunShare");

const oneShare = {
  description: "The run's share token",
  content: { "application/json": { schema: shareSchema } },
};

shareRoutes.openapi(
  createRoute({
    method: "get",
    path: "/runs/{run_id}/share",
    tags: ["Sharing"],
    summary: "Get the share token of a run",
    request: { params: runParams },
    responses: {
      200: {
        description: "The run's share token, or null",
        content: { "application/json": { schema: shareSchema.nullable() } },
      },
    },
  }),
  async (c) => {
    const { run_id } = c.req.valid("param");
    const { workspaceId } = c.var.scope;
    await requireRun(c.env, { workspaceId, runId: run_id });
    const share = await findShareOfRun(c.env.DB, workspaceId, run_id);
    return c.json(share === undefined ? null : toShareJson(share), 200);
  },
);

shareRoutes.openapi(
  createRoute({
    method: "put",
    path: "/runs/{run_id}/share",
    tags: ["Sharing"],
    summary: "Share a run and its descendants with everybody who has the link",
    request: {
      params: runParams,
      body: {
        content: {
          "application/json": {
            schema: z.strictObject({
              run_id: uuidParam().nullish(),
              share_token: uuidParam().nullish(),
            }),
          },
        },
      },
    },
    responses: { 200: oneShare },
  }),
  async (c) => {
    const { run_id } = c.req.valid("param");
    const { share_token } = c.req.valid("json");
    const { workspaceId } = c.var.scope;
    const placed = await requireRun(c.env, { workspaceId, runId: run_id });
    const share = await shareOneRun(c.env.DB, placed, share_token ?? null);
    return c.json(toShareJson(share), 200);
  },
);

shareRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/runs/{run_id}/share",
    tags: ["Sharing"],
    summary: "Make a run private again",
    request: { params: runParams },
    responses: {
      200: {
        description: "The share link no longer works",
        content: { "application/json": { schema: z.null() } },
      },
    },
  }),
  async (c) => {
    const { run_id } = c.req.valid("param");
    await unshareRun(c.env.DB, c.var.scope.workspaceId, run_id);
    return c.json(null, 200);
  },
);

function toShareJson({ run_id, token }: RunShareRow) {
  return { run_id, share_token: token };
}
