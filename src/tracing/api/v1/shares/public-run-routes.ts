import { createRoute, z } from "@hono/zod-openapi";
import type { RunShareRow } from "../../../../db/run-shares-repo.ts";
import type { AppContext } from "../../../../http/app-types.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { listParam } from "../../../../http/query-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { requireRun } from "../../../query/find-runs.ts";
import { readSharedRuns, sharedSelection } from "../../../shares/shared-runs.ts";
import type { JsonPart } from "../../json-parts.ts";
import { jsonStreamResponse } from "../../json-stream.ts";
import { requireShare } from "../../public-share.ts";
import { runSchema } from "../runs/run-schema.ts";
import { runJsonContext } from "../runs/run-json-context.ts";
import { toRunJson } from "../runs/run-json.ts";
import { ALWAYS_SELECTED, DEFAULT_SELECT, payloadsOf, type RunSelect } from "../runs/run-select.ts";

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
    const found = await requireRun(c.env, {
      workspaceId: share.workspace_id,
      runId: share.run_id,
      projectId: share.project_id,
      payloads: payloadsOf(PUBLIC_SELECT),
    });
    const parts = await toRunJson(found, PUBLIC_SELECT, runJsonContext(c, share.workspace_id));
    return jsonStreamResponse(c.env.PAYLOADS, parts) as never;
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

async function listShared(
  c: AppContext,
  share: RunShareRow,
  ids: readonly string[] | null,
): Promise<Response> {
  const runs = readSharedRuns(c.env, share, {
    selection: await sharedSelection(c.env, share, {}),
    ids,
    payloads: payloadsOf(PUBLIC_SELECT),
  });
  const context = runJsonContext(c, share.workspace_id);
  return jsonStreamResponse(
    c.env.PAYLOADS,
    listJson(runs, (run) => toRunJson(run, PUBLIC_SELECT, context)),
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
