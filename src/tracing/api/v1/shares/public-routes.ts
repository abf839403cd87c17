import { createRoute, z } from "@hono/zod-openapi";
import type { RunShareRow } from "../../../../db/run-shares-repo.ts";
import type { AppContext } from "../../../../http/app-types.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { listParam } from "../../../../http/query-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { findRuns, requireRun, runNotFound } from "../../../query/find-runs.ts";
import { readSharedRuns, sharedSelection } from "../../../query/shared-runs.ts";
import { jsonStreamResponse } from "../../json-stream.ts";
import type { JsonPart } from "../../json-parts.ts";
import { requireShare } from "../../links.ts";
import {
  ALWAYS_SELECTED,
  DEFAULT_SELECT,
  payloadsOfSelect,
  RUN_SELECT,
  runSchemaV1,
  type RunSelect,
} from "../runs/run-schema.ts";
import { runJsonContext, toRunJsonV1 } from "../runs/run-json.ts";
import { invalidField } from "../../../../lib/api-error.ts";
import {
  MAX_PAGE,
  readSelection,
  runsPageSchemaV1,
  runsQuerySchemaV1,
} from "../queries/selection.ts";
import { pageJson, readCursor } from "../queries/runs-query-routes.ts";

/** Serves the shared run and its descendants to anyone who has the share token, without an API key. */
export const publicRunRoutes = createRouter();

const tokenParams = z.object({ share_token: uuidParam() });

publicRunRoutes.openapi(
  createRoute({
    method: "get",
    path: "/public/{share_token}/run",
    tags: ["Sharing"],
    summary: "Get the shared run",
    security: [],
    request: { params: tokenParams },
    responses: {
      200: { description: "The run", content: { "application/json": { schema: runSchemaV1 } } },
    },
  }),
  async (c) => {
    const share = await requireShare(c, c.req.valid("param").share_token);
    const found = await requireRun(c.env, {
      workspaceId: share.workspace_id,
      runId: share.run_id,
      projectId: share.project_id,
      payloads: payloadsOfSelect(PUBLIC_SELECT),
    });
    const parts = await toRunJsonV1(found, PUBLIC_SELECT, runJsonContext(c, share.workspace_id));
    return jsonStreamResponse(c.env.PAYLOADS, parts) as never;
  },
);

publicRunRoutes.openapi(
  createRoute({
    method: "get",
    path: "/public/{share_token}/runs",
    tags: ["Sharing"],
    summary: "Get the shared run and its descendants",
    security: [],
    request: {
      params: tokenParams,
      query: z.strictObject({
        id: listParam().optional(),
        share_token: z.string().optional(),
      }),
    },
    responses: {
      200: {
        description: "The runs, in the order of their start",
        content: { "application/json": { schema: z.array(runSchemaV1) } },
      },
    },
  }),
  async (c) => {
    const share = await requireShare(c, c.req.valid("param").share_token);
    return listShared(c, share, c.req.valid("query").id ?? null) as never;
  },
);

// One official client omits the question mark, so its query becomes a part of the path.
publicRunRoutes.get("/public/:share_token/:list{runsshare_token=.*}", async (c) => {
  const share = await requireShare(c, c.req.param("share_token").toLowerCase());
  const query = new URLSearchParams(c.req.param("list").slice("runs".length));
  const ids = query.getAll("id");
  return listShared(c, share, ids.length === 0 ? null : ids);
});

const PUBLIC_SELECT: ReadonlySet<RunSelect> = new Set([...ALWAYS_SELECTED, ...DEFAULT_SELECT]);

async function listShared(
  c: AppContext,
  share: RunShareRow,
  ids: readonly string[] | null,
): Promise<Response> {
  const runs = readSharedRuns(c.env, share, {
    selection: await sharedSelection(c.env, share, {}),
    ids,
    payloads: payloadsOfSelect(PUBLIC_SELECT),
  });
  const context = runJsonContext(c, share.workspace_id);
  return jsonStreamResponse(
    c.env.PAYLOADS,
    listJson(runs, (run) => toRunJsonV1(run, PUBLIC_SELECT, context)),
  );
}

async function* listJson<T>(
  items: AsyncIterable<T>,
  toJson: (item: T) => Promise<JsonPart[]>,
): AsyncGenerator<JsonPart> {
  let separator = "[";
  for await (const item of items) {
    yield separator;
    yield* await toJson(item);
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

/** Queries of the runs that a share token gives access to, without an API key. */
export const publicQueryRoutes = createRouter();

/** These would reveal other shares, or runs of the trace that are not shared. */
const NOT_PUBLIC: ReadonlySet<RunSelect> = new Set(["share_token", "trace_min_max_start_time"]);

const MAY_BE_SELECTED: ReadonlySet<RunSelect> = new Set(
  RUN_SELECT.filter((name) => !NOT_PUBLIC.has(name)),
);

publicQueryRoutes.openapi(
  createRoute({
    method: "post",
    path: "/public/{share_token}/runs/query",
    tags: ["Sharing"],
    summary: "Query the shared run and its descendants",
    security: [],
    request: {
      params: z.object({ share_token: uuidParam() }),
      body: { content: { "application/json": { schema: runsQuerySchemaV1 } }, required: true },
    },
    responses: {
      200: {
        description:
          "A page of runs in the order of their start; `cursors.next` is the cursor of the next page",
        content: { "application/json": { schema: runsPageSchemaV1 } },
      },
    },
  }),
  async (c) => {
    const share = await requireShare(c, c.req.valid("param").share_token);
    const body = c.req.valid("json");
    for (const field of ["trace_filter", "tree_filter"] as const) {
      if (!body[field] || share.run_id === share.trace_id) continue;
      // The result would reveal runs that are not shared.
      const message =
        "Only a part of the trace is shared: use filter, which applies to the shared runs";
      throw invalidField(["body", field], message, "not_shared");
    }
    const { projectIds, selection } = readSelection(body);
    const { traceId = share.trace_id } = selection;
    const isHere = traceId === share.trace_id && projectIds?.includes(share.project_id) !== false;
    const select = publicSelect(body.select);
    const found = await findRuns(c.env, {
      workspaceId: share.workspace_id,
      projectIds: isHere ? [share.project_id] : [],
      selection: await sharedSelection(c.env, share, selection),
      order: body.order ?? "desc",
      after: readCursor(body.cursor),
      limit: Math.min(body.limit ?? MAX_PAGE, MAX_PAGE),
      payloads: payloadsOfSelect(select),
    });
    const parts = pageJson(found, select, runJsonContext(c, share.workspace_id));
    return jsonStreamResponse(c.env.PAYLOADS, parts) as never;
  },
);

publicQueryRoutes.openapi(
  createRoute({
    method: "get",
    path: "/public/{share_token}/run/{run_id}",
    tags: ["Sharing"],
    summary: "Get the shared run or one of its descendants",
    security: [],
    request: { params: z.object({ share_token: uuidParam(), run_id: uuidParam() }) },
    responses: {
      200: { description: "The run", content: { "application/json": { schema: runSchemaV1 } } },
    },
  }),
  async (c) => {
    const { share_token, run_id } = c.req.valid("param");
    const share = await requireShare(c, share_token);
    const { runs } = await findRuns(c.env, {
      workspaceId: share.workspace_id,
      projectIds: [share.project_id],
      selection: await sharedSelection(c.env, share, { ids: [run_id] }),
      order: "desc",
      after: null,
      limit: 1,
      payloads: payloadsOfSelect(PUBLIC_SELECT),
    });
    const [found] = runs;
    if (found === undefined) throw runNotFound(run_id);
    const parts = await toRunJsonV1(found, PUBLIC_SELECT, runJsonContext(c, share.workspace_id));
    return jsonStreamResponse(c.env.PAYLOADS, parts) as never;
  },
);

function publicSelect(names: readonly RunSelect[] | null | undefined): ReadonlySet<RunSelect> {
  const chosen: Iterable<RunSelect> = names ?? PUBLIC_SELECT;
  return new Set([...ALWAYS_SELECTED, ...chosen].filter((name) => MAY_BE_SELECTED.has(name)));
}
