import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../../http/app-types.ts";
import { invalidField } from "../../../lib/api-error.ts";
import { uuidParam } from "../../../http/path-params.ts";
import { listParam } from "../../../http/query-params.ts";
import { createRouter } from "../../../http/router.ts";
import { timeValue } from "../../../http/time-value.ts";
import type { PlacedRun } from "../../query/run-source.ts";
import {
  checkedFilters,
  encodeWindowCursor,
  TRACES_PAGE,
  type TracesQueryBody,
  tracesQuerySchema,
  windowOf,
} from "./request-schemas.ts";
import { streamItems } from "./item-stream.ts";
import type { JsonPart } from "../json-parts.ts";
import { requireProject } from "../../projects/project-cache.ts";
import { runListSchema, tracesPageSchema } from "./response-schemas.ts";
import {
  DEFAULT_FIELDS,
  payloadsOfFields,
  TRACED_RUN_FIELDS,
  type RunField,
} from "./run-fields.ts";
import { toRunsJson } from "./run-links.ts";
import { AGGREGATE_FIELDS, toTraceJson } from "./trace-json.ts";
import { findRuns } from "../../query/find-runs.ts";
import type { RunPosition } from "../../model/run-page.ts";
import type { Micros } from "../../../lib/time.ts";

export const traceV2Routes = createRouter();

traceV2Routes.openapi(
  createRoute({
    method: "get",
    path: "/traces/{trace_id}/runs",
    tags: ["Traces (v2)"],
    summary: "List the runs of a trace",
    request: {
      params: z.object({ trace_id: uuidParam() }),
      query: z.strictObject({
        project_id: uuidParam(),
        min_start_time: timeValue().optional(),
        max_start_time: timeValue().optional(),
        filter: z.string().optional(),
        selects: listParam(TRACED_RUN_FIELDS).optional(),
      }),
    },
    responses: {
      200: {
        description: "All runs of the trace, in the order of their start",
        content: { "application/json": { schema: runListSchema } },
      },
    },
  }),
  async (c) => {
    const { trace_id } = c.req.valid("param");
    const { project_id, min_start_time, max_start_time, ...query } = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    requireBoth({ min_start_time, max_start_time });
    const { filter } = checkedFilters("query", { filter: query.filter });
    await requireProject(c.env.DB, workspaceId, project_id);
    const fields = query.selects ?? DEFAULT_FIELDS;
    return (await streamItems(c.env, {
      query: {
        workspaceId,
        projectIds: [project_id],
        selection: { traceId: trace_id, filter, from: min_start_time, to: max_start_time },
        order: "asc",
        after: null,
        payloads: payloadsOfFields(fields),
      },
      limit: null,
      render: (runs) => toRunsJson(c, workspaceId, runs, fields),
      end: () => ({}),
    })) as never;
  },
);

traceV2Routes.openapi(
  createRoute({
    method: "post",
    path: "/traces/query",
    tags: ["Traces (v2)"],
    summary: "Query traces by their root runs",
    request: {
      body: { required: true, content: { "application/json": { schema: tracesQuerySchema } } },
    },
    responses: {
      200: {
        description: "A page of traces, the latest first",
        content: { "application/json": { schema: tracesPageSchema } },
      },
    },
  }),
  async (c) => (await queryTraces(c, c.req.valid("json"))) as never,
);

async function queryTraces(c: AppContext, body: TracesQueryBody): Promise<Response> {
  const { workspaceId } = c.var.scope;
  const { trace_filter, tree_filter } = body;
  const { traceFilter, treeFilter } = checkedFilters("body", { trace_filter, tree_filter });
  await requireProject(c.env.DB, workspaceId, body.project_id);
  const cursor = body.cursor ?? null;
  const window = windowOf(body, cursor?.window, Date.now() * 1000);
  const selected = body.selects ?? DEFAULT_FIELDS;
  const rootFields = selected.filter((field) => !AGGREGATE_FIELDS.has(field));
  return streamItems(c.env, {
    query: {
      workspaceId,
      projectIds: [body.project_id],
      selection: {
        isRoot: true,
        ids: body.trace_ids ?? undefined,
        from: window.from,
        // The window's end is exclusive, and the selection's is inclusive.
        to: window.to - 1,
        // Each of these runs is the root of its trace, so the trace's filter applies to the run.
        filter: traceFilter,
        treeFilter,
      },
      order: "desc",
      after: cursor?.position ?? null,
      payloads: payloadsOfFields(rootFields),
    },
    limit: body.page_size ?? TRACES_PAGE,
    render: (roots) => renderTraces(c, body.project_id, roots, { selected, rootFields }),
    end: (next) =>
      next === null ? {} : { next_cursor: encodeWindowCursor({ position: next, window }) },
  });
}

async function renderTraces(
  c: AppContext,
  projectId: string,
  roots: readonly PlacedRun[],
  { selected, rootFields }: { selected: readonly RunField[]; rootFields: readonly RunField[] },
): Promise<JsonPart[][]> {
  const { workspaceId } = c.var.scope;
  const [runs, firstTokens] = await Promise.all([
    toRunsJson(c, workspaceId, roots, rootFields),
    selected.includes("FIRST_TOKEN_TIME")
      ? firstTokenTimes(c.env, { workspaceId, projectId, roots })
      : new Map<string, number>(),
  ]);
  return roots.map((root, index) =>
    toTraceJson(runs[index] ?? ["{}"], root.run, selected, firstTokens),
  );
}

function requireBoth(bounds: {
  min_start_time: number | undefined;
  max_start_time: number | undefined;
}): void {
  const { min_start_time: from, max_start_time: to } = bounds;
  if ((from === undefined) === (to === undefined)) return;
  const [absent, given] =
    from === undefined
      ? ["min_start_time", "max_start_time"]
      : ["max_start_time", "min_start_time"];
  throw invalidField(["query", absent], `Field required together with ${given}`, "missing");
}

const PAGE = 1000;
/** Runs of a trace may start later than its root, or by another clock. In microseconds. */
const SLACK = 86_400_000_000;

/** Returns the earliest time of a first token in any run of each trace, by trace id. */
async function firstTokenTimes(
  env: Env,
  query: { workspaceId: string; projectId: string; roots: readonly PlacedRun[] },
): Promise<Map<string, Micros>> {
  const { workspaceId, projectId, roots } = query;
  const times = new Map<string, Micros>();
  if (roots.length === 0) return times;
  const traceIds = roots.map(({ run }) => run.trace_id);
  const starts = roots.map(({ run }) => run.start_time);
  const ends = roots.map(({ run }) => run.end_time ?? Date.now() * 1000);
  let after: RunPosition | null = null;
  do {
    const page = await findRuns(env, {
      workspaceId,
      projectIds: [projectId],
      selection: {
        filter: `and(in(trace_id, ${JSON.stringify(traceIds)}), neq(first_token_time, null))`,
        from: Math.min(...starts) - SLACK,
        to: Math.max(...ends) + SLACK,
      },
      order: "asc",
      after,
      limit: PAGE,
      payloads: [],
    });
    for (const { run } of page.runs) {
      const { trace_id, first_token_time: time } = run;
      if (time !== null) times.set(trace_id, Math.min(time, times.get(trace_id) ?? time));
    }
    after = page.next;
  } while (after !== null);
  return times;
}
