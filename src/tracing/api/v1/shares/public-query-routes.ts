import { createRoute, z } from "@hono/zod-openapi";
import type { RunShareRow } from "../../../../db/run-shares-repo.ts";
import type { AppContext } from "../../../../http/app-types.ts";
import { ApiError, invalidField } from "../../../../lib/api-error.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { findRuns } from "../../../query/find-runs.ts";
import { MAX_PAGE, runSchema, runsPageSchema, runsQuerySchema } from "../queries/query-schemas.ts";
import { readSelection } from "../queries/read-selection.ts";
import type { RunSelection } from "../../../shard/selection.ts";
import { jsonStreamResponse, pageJson, readCursor } from "../queries/runs-query-routes.ts";
import { streamJson } from "../../json-stream.ts";
import { requireRun } from "../../../query/read-run.ts";
import { runJson } from "../runs/run-json.ts";
import { runJsonContext } from "../runs/run-json-context.ts";
import { ALWAYS_SELECTED, payloadsOf, RUN_SELECT, type RunSelect } from "../runs/run-select.ts";
import { PUBLIC_SELECT, requireShare } from "./routes.ts";

/** Questions about the runs that a share token shows, without a key. */
export const publicQueryRoutes = createRouter();

/** These tell of other shares, or of runs of the trace that are not shared. */
const NOT_PUBLIC: ReadonlySet<RunSelect> = new Set(["share_token", "trace_min_max_start_time"]);

const MAY_BE_SELECTED: ReadonlySet<RunSelect> = new Set(
  RUN_SELECT.filter((name) => !NOT_PUBLIC.has(name)),
);

publicQueryRoutes.openapi(
  createRoute({
    method: "post",
    path: "/public/{share_token}/runs/query",
    tags: ["Sharing"],
    summary: "Query the shared run and the runs below it",
    security: [],
    request: {
      params: z.object({ share_token: uuidParam() }),
      body: { content: { "application/json": { schema: runsQuerySchema } }, required: true },
    },
    responses: {
      200: {
        description: "A page of runs in the order of their start; `cursors.next` leads on",
        content: { "application/json": { schema: runsPageSchema } },
      },
    },
  }),
  async (c) => {
    const share = await requireShare(c, c.req.valid("param").share_token);
    const body = c.req.valid("json");
    for (const field of ["trace_filter", "tree_filter"] as const) {
      if (!body[field] || share.run_id === share.trace_id) continue;
      // Its answers would tell of runs that are not shared.
      const message = "Only a part of the trace is shared: use filter, which is about its runs";
      throw invalidField(["body", field], message, "not_shared");
    }
    const { projectIds, selection } = readSelection(body);
    const { traceId = share.trace_id } = selection;
    const isHere = traceId === share.trace_id && projectIds?.includes(share.project_id) !== false;
    const select = publicSelect(body.select);
    const found = await findRuns(c.env, {
      workspaceId: share.workspace_id,
      projectIds: isHere ? [share.project_id] : [],
      selection: await sharedSelection(c, share, selection),
      order: body.order ?? "desc",
      after: readCursor(body.cursor),
      limit: Math.min(body.limit ?? MAX_PAGE, MAX_PAGE),
      payloads: payloadsOf(select),
    });
    const parts = pageJson(found, select, runJsonContext(c, share.workspace_id));
    return jsonStreamResponse(streamJson(c.env.PAYLOADS, parts)) as never;
  },
);

publicQueryRoutes.openapi(
  createRoute({
    method: "get",
    path: "/public/{share_token}/run/{run_id}",
    tags: ["Sharing"],
    summary: "The shared run, or one below it",
    security: [],
    request: { params: z.object({ share_token: uuidParam(), run_id: uuidParam() }) },
    responses: {
      200: { description: "The run", content: { "application/json": { schema: runSchema } } },
    },
  }),
  async (c) => {
    const { share_token, run_id } = c.req.valid("param");
    const share = await requireShare(c, share_token);
    const { runs } = await findRuns(c.env, {
      workspaceId: share.workspace_id,
      projectIds: [share.project_id],
      selection: await sharedSelection(c, share, { ids: [run_id] }),
      order: "desc",
      after: null,
      limit: 1,
      payloads: payloadsOf(PUBLIC_SELECT),
    });
    const [found] = runs;
    // As for a run that there is not.
    if (found === undefined) throw new ApiError("not_found", `Run ${run_id} not found`);
    const parts = await runJson(found, PUBLIC_SELECT, runJsonContext(c, share.workspace_id));
    return jsonStreamResponse(streamJson(c.env.PAYLOADS, parts)) as never;
  },
);

/** The selection, as far as it is of the shared run and what is below it. */
async function sharedSelection(
  c: AppContext,
  share: RunShareRow,
  selection: RunSelection,
): Promise<RunSelection> {
  const { workspace_id, run_id, project_id, trace_id } = share;
  const { run } = await requireRun(c, workspace_id, run_id, [], project_id);
  return { ...selection, traceId: trace_id, within: run.dotted_order };
}

function publicSelect(names: readonly RunSelect[] | null | undefined): ReadonlySet<RunSelect> {
  const chosen: Iterable<RunSelect> = names ?? PUBLIC_SELECT;
  return new Set([...ALWAYS_SELECTED, ...chosen].filter((name) => MAY_BE_SELECTED.has(name)));
}
