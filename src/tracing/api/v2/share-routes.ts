import { createRoute, z } from "@hono/zod-openapi";
import { findShareOfRun, type RunShareRow, unshareRun } from "../../../db/run-shares-repo.ts";
import { uuidParam } from "../../../http/path-params.ts";
import { createRouter } from "../../../http/router.ts";
import { requireRun, runNotFound } from "../../query/find-runs.ts";
import { isShared, nothingShared, shareTrace } from "../../query/shared-runs.ts";
import type { AppContext } from "../../../http/app-types.ts";
import { listParam } from "../../../http/query-params.ts";
import { findProject } from "../../projects/project-cache.ts";
import { timeValue } from "../../../http/time-value.ts";
import { jsonStreamResponse } from "../json-stream.ts";
import { requireShare } from "../links.ts";
import { streamItems } from "./item-stream.ts";
import { runListSchema, runSchemaV2 } from "./response-schemas.ts";
import {
  DEFAULT_FIELDS,
  payloadsOfFields,
  PUBLIC_LIST_FIELDS,
  PUBLIC_RUN_FIELDS,
} from "./run-fields.ts";
import { toRunsJson } from "./run-links.ts";

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
        description: "The share token; a trace that is already shared keeps its token",
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
      // The id of the root run, which is also the id of the trace.
      params: z.object({ run_id: uuidParam() }),
      body: {
        content: {
          "application/json": { schema: z.strictObject({ session_id: uuidParam().nullish() }) },
        },
      },
    },
    responses: { 204: { description: "The trace is not shared any more" } },
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

/** Serves what a share token gives access to, without an API key. */
export const publicV2Routes = createRouter();

publicV2Routes.openapi(
  createRoute({
    method: "get",
    path: "/public/{share_token}/run/{run_id}",
    tags: ["Traces (v2)"],
    summary: "Get a run of a shared trace",
    security: [],
    request: {
      params: z.object({ share_token: uuidParam(), run_id: uuidParam() }),
      query: z.strictObject({
        // Clients send this to locate the run; the index of run ids also knows where the run is.
        start_time: timeValue().optional(),
        selects: listParam(PUBLIC_RUN_FIELDS).optional(),
      }),
    },
    responses: {
      200: {
        description: "The selected fields of the run",
        content: { "application/json": { schema: runSchemaV2 } },
      },
    },
  }),
  async (c) => {
    const { share_token, run_id } = c.req.valid("param");
    const { selects: fields = DEFAULT_FIELDS } = c.req.valid("query");
    const share = await visibleShare(c, share_token);
    const { workspace_id, project_id } = share;
    const found = await requireRun(c.env, {
      workspaceId: workspace_id,
      runId: run_id,
      projectId: project_id,
      payloads: payloadsOfFields(fields),
    });
    if (!isShared(found, share)) throw runNotFound(run_id);
    const [parts = []] = await toRunsJson(c, share.workspace_id, [found], fields);
    return jsonStreamResponse(c.env.PAYLOADS, parts) as never;
  },
);

publicV2Routes.openapi(
  createRoute({
    method: "post",
    path: "/public/{share_token}/runs/query",
    tags: ["Traces (v2)"],
    summary: "List the runs of a shared trace",
    security: [],
    request: {
      params: z.object({ share_token: uuidParam() }),
      body: {
        content: {
          "application/json": {
            schema: z.strictObject({ selects: z.array(z.enum(PUBLIC_LIST_FIELDS)).nullish() }),
          },
        },
      },
    },
    responses: {
      200: {
        description: "All shared runs of the trace, in the order of their start",
        content: { "application/json": { schema: runListSchema } },
      },
    },
  }),
  async (c) => {
    const share = await visibleShare(c, c.req.valid("param").share_token);
    const fields = c.req.valid("json").selects ?? DEFAULT_FIELDS;
    return (await streamItems(c.env, {
      query: {
        workspaceId: share.workspace_id,
        projectIds: [share.project_id],
        selection: { traceId: share.trace_id },
        order: "asc",
        after: null,
        payloads: payloadsOfFields(fields),
      },
      limit: null,
      render: (runs) =>
        toRunsJson(
          c,
          share.workspace_id,
          runs.filter((run) => isShared(run, share)),
          fields,
        ),
      end: () => ({}),
    })) as never;
  },
);

/** Returns the share. Throws a 404 also if its project no longer exists. */
async function visibleShare(c: AppContext, token: string): Promise<RunShareRow> {
  const share = await requireShare(c, token);
  const project = await findProject(c.env.DB, share.workspace_id, share.project_id);
  if (project === null) throw nothingShared();
  return share;
}
