import { createRoute, z } from "@hono/zod-openapi";
import { findShareOfRun, unshareRun } from "../../../db/run-shares-repo.ts";
import { uuidParam } from "../../../http/path-params.ts";
import { createRouter } from "../../../http/router.ts";
import { requireRun, runNotFound } from "../../query/find-runs.ts";
import { shareTrace } from "../../shares/share-run.ts";

export const shareV2Routes = createRouter();

shareV2Routes.openapi(
  createRoute({
    method: "post",
    path: "/runs/{run_id}/share",
    tags: ["Traces (v2)"],
    summary: "Share the trace of a run with everybody who has the token",
    request: {
      params: z.object({ run_id: uuidParam() }),
      body: {
        content: {
          "application/json": {
            schema: z.strictObject({
              session_id: uuidParam().nullish(),
              trace_id: uuidParam().nullish(),
            }),
          },
        },
      },
    },
    responses: {
      200: {
        description: "The token; a trace that is shared already keeps the one it has",
        content: { "application/json": { schema: z.object({ share_token: z.string() }) } },
      },
    },
  }),
  async (c) => {
    const { run_id } = c.req.valid("param");
    const { session_id, trace_id } = c.req.valid("json");
    const { workspaceId } = c.var.scope;
    const placed = await requireRun(c.env, { workspaceId, runId: run_id });
    const { run, ref } = placed;
    if (
      (session_id ?? ref.projectId) !== ref.projectId ||
      (trace_id ?? run.trace_id) !== run.trace_id
    ) {
      throw runNotFound(run_id);
    }
    const { token } = await shareTrace(c.env.DB, placed);
    return c.json({ share_token: token }, 200);
  },
);

shareV2Routes.openapi(
  createRoute({
    method: "delete",
    path: "/runs/{run_id}/share",
    tags: ["Traces (v2)"],
    summary: "Make a trace private again",
    request: {
      // The root run's, which is the trace's.
      params: z.object({ run_id: uuidParam() }),
      body: {
        content: {
          "application/json": { schema: z.strictObject({ session_id: uuidParam().nullish() }) },
        },
      },
    },
    responses: { 204: { description: "It is not shared, or no longer" } },
  }),
  async (c) => {
    const { run_id: traceId } = c.req.valid("param");
    const { session_id } = c.req.valid("json");
    const { workspaceId } = c.var.scope;
    const share = await findShareOfRun(c.env.DB, workspaceId, traceId);
    if (share !== undefined && (session_id ?? share.project_id) === share.project_id) {
      await unshareRun(c.env.DB, workspaceId, traceId);
    }
    return c.body(null, 204);
  },
);
