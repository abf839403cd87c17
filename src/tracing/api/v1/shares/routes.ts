import { createRoute, z } from "@hono/zod-openapi";
import {
  findShareByToken,
  findShareOfRun,
  shareRun,
  unshareRun,
  type RunShareRow,
} from "../../../../db/run-shares-repo.ts";
import type { AppContext } from "../../../../http/app-types.ts";
import { ApiError } from "../../../../lib/api-error.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { listParam } from "../../../../http/query-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { admitWorkspace } from "../../../../identity/private-connectivity.ts";
import { findRuns } from "../../../query/find-runs.ts";
import { runSchema } from "../queries/query-schemas.ts";
import type { PlacedRun } from "../../../query/run-source.ts";
import { jsonStreamResponse } from "../queries/runs-query-routes.ts";
import type { RunPosition } from "../../../model/run-record.ts";
import { type JsonPart, streamJson } from "../../json-stream.ts";
import { requireRun } from "../../../query/read-run.ts";
import { runJson } from "../runs/run-json.ts";
import { runJsonContext } from "../runs/run-json-context.ts";
import { ALWAYS_SELECTED, DEFAULT_SELECT, payloadsOf, type RunSelect } from "../runs/run-select.ts";

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
    summary: "Whether a run is shared",
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
    await requireRun(c, workspaceId, run_id);
    const share = await findShareOfRun(c.env.DB, workspaceId, run_id);
    return c.json(share === undefined ? null : toShare(share), 200);
  },
);

shareRoutes.openapi(
  createRoute({
    method: "put",
    path: "/runs/{run_id}/share",
    tags: ["Sharing"],
    summary: "Share a run and what is below it with everybody who has the link",
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
    const { run, ref } = await requireRun(c, workspaceId, run_id);
    const taken = share_token ? await findShareByToken(c.env.DB, share_token) : undefined;
    if (taken !== undefined && (taken.workspace_id !== workspaceId || taken.run_id !== run_id)) {
      throw new ApiError("conflict", `The share token ${share_token} is taken`);
    }
    const share = await shareRun(c.env.DB, {
      token: share_token ?? crypto.randomUUID(),
      workspace_id: workspaceId,
      project_id: ref.projectId,
      trace_id: run.trace_id,
      run_id,
      created_at: Date.now(),
    });
    return c.json(toShare(share), 200);
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
        description: "Its link works no more",
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

/** What a share token shows, without a key: the shared run and the runs below it. */
export const publicRunRoutes = createRouter();

const tokenParams = z.object({ share_token: uuidParam() });

publicRunRoutes.openapi(
  createRoute({
    method: "get",
    path: "/public/{share_token}/run",
    tags: ["Sharing"],
    summary: "The shared run",
    security: [],
    request: { params: tokenParams },
    responses: {
      200: { description: "The run", content: { "application/json": { schema: runSchema } } },
    },
  }),
  async (c) => {
    const share = await requireShare(c, c.req.valid("param").share_token);
    const { workspace_id, run_id, project_id } = share;
    const payloads = payloadsOf(PUBLIC_SELECT);
    const found = await requireRun(c, workspace_id, run_id, payloads, project_id);
    const parts = await runJson(found, PUBLIC_SELECT, runJsonContext(c, share.workspace_id));
    return jsonStreamResponse(streamJson(c.env.PAYLOADS, parts)) as never;
  },
);

publicRunRoutes.openapi(
  createRoute({
    method: "get",
    path: "/public/{share_token}/runs",
    tags: ["Sharing"],
    summary: "The shared run and the runs below it",
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
        content: { "application/json": { schema: z.array(runSchema) } },
      },
    },
  }),
  async (c) => {
    const share = await requireShare(c, c.req.valid("param").share_token);
    return listShared(c, share, c.req.valid("query").id ?? null) as never;
  },
);

// One official client leaves the question mark out, so that its query is a part of the path.
publicRunRoutes.get("/public/:share_token/:list{runsshare_token=.*}", async (c) => {
  const share = await requireShare(c, c.req.param("share_token").toLowerCase());
  const query = new URLSearchParams(c.req.param("list").slice("runs".length));
  const ids = query.getAll("id");
  return listShared(c, share, ids.length === 0 ? null : ids);
});

export const PUBLIC_SELECT: ReadonlySet<RunSelect> = new Set([
  ...ALWAYS_SELECTED,
  ...DEFAULT_SELECT,
]);

export async function requireShare(c: AppContext, token: string): Promise<RunShareRow> {
  const share = await findShareByToken(c.env.DB, token);
  if (share === undefined) throw new ApiError("not_found", "Nothing is shared under this token");
  await admitWorkspace(c, share.workspace_id);
  return share;
}

async function listShared(
  c: AppContext,
  share: RunShareRow,
  ids: readonly string[] | null,
): Promise<Response> {
  const { workspace_id, run_id, project_id } = share;
  const { run: top } = await requireRun(c, workspace_id, run_id, [], project_id);
  const runs = sharedRuns(c.env, share, top.dotted_order, ids);
  const context = runJsonContext(c, share.workspace_id);
  return jsonStreamResponse(
    streamJson(
      c.env.PAYLOADS,
      listJson(runs, (run) => runJson(run, PUBLIC_SELECT, context)),
    ),
  );
}

const PAGE = 100;

async function* sharedRuns(
  env: Env,
  share: RunShareRow,
  topOrder: string,
  ids: readonly string[] | null,
): AsyncGenerator<PlacedRun> {
  let after: RunPosition | null = null;
  do {
    const page = await findRuns(env, {
      workspaceId: share.workspace_id,
      projectIds: [share.project_id],
      selection: { traceId: share.trace_id, within: topOrder },
      order: "asc",
      after,
      limit: PAGE,
      payloads: payloadsOf(PUBLIC_SELECT),
    });
    for (const found of page.runs) {
      if (ids === null || ids.includes(found.run.id)) yield found;
    }
    after = page.next;
  } while (after !== null);
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

function toShare({ run_id, token }: RunShareRow) {
  return { run_id, share_token: token };
}
