import { createRoute, z } from "@hono/zod-openapi";
import { findProjects } from "../../../db/projects-repo.ts";
import type { AppContext } from "../../../http/app-types.ts";
import { invalidField } from "../../../lib/api-error.ts";
import { uuidParam } from "../../../http/path-params.ts";
import { listParam } from "../../../http/query-params.ts";
import { createRouter } from "../../../http/router.ts";
import { timeValue } from "../../../http/time-value.ts";
import type { PlacedRun } from "../../query/run-source.ts";
import type { RunSelection } from "../../shard/selection.ts";
import type { Micros } from "../../../lib/time.ts";
import type { PayloadField } from "../../model/run-write.ts";
import { jsonStreamResponse } from "../json-stream.ts";
import { requireRun, runNotFound } from "../../query/find-runs.ts";
import { appPath } from "../links.ts";
import {
  checkedFilters,
  completedOnly,
  encodeWindowCursor,
  RUNS_PAGE,
  type RunsQueryBody,
  runsQuerySchemaV2,
  type TimeWindow,
  windowOf,
} from "./request-schemas.ts";
import { streamItems } from "./item-stream.ts";
import { requireProject } from "../../projects/project-cache.ts";
import { runSchemaV2, runsPageSchemaV2 } from "./response-schemas.ts";
import { DEFAULT_FIELDS, payloadsOfFields, TRACED_RUN_FIELDS } from "./run-fields.ts";
import { toRunsJson } from "./run-links.ts";

const MAX_EXPERIMENTS = 1000;

export const runV2Routes = createRouter();

const runParams = z.object({ run_id: uuidParam() });

runV2Routes.openapi(
  createRoute({
    method: "post",
    path: "/runs/query",
    tags: ["Traces (v2)"],
    summary: "Query runs",
    request: {
      body: { required: true, content: { "application/json": { schema: runsQuerySchemaV2 } } },
    },
    responses: {
      200: {
        description: "A page of runs in the order of their start",
        content: { "application/json": { schema: runsPageSchemaV2 } },
      },
    },
  }),
  async (c) => (await queryRuns(c, c.req.valid("json"))) as never,
);

runV2Routes.openapi(
  createRoute({
    method: "get",
    path: "/runs/{run_id}",
    tags: ["Traces (v2)"],
    summary: "Get a run",
    request: {
      params: runParams,
      query: z.strictObject({
        project_id: uuidParam(),
        // Clients send this to locate the run; the index of run ids also knows where the run is.
        start_time: timeValue().optional(),
        selects: listParam(TRACED_RUN_FIELDS).optional(),
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
    const { project_id, selects: fields = DEFAULT_FIELDS } = c.req.valid("query");
    const found = await runOfProject(
      c,
      project_id,
      c.req.valid("param").run_id,
      payloadsOfFields(fields),
    );
    const [parts = []] = await toRunsJson(c, c.var.scope.workspaceId, [found], fields);
    return jsonStreamResponse(c.env.PAYLOADS, parts) as never;
  },
);

runV2Routes.openapi(
  createRoute({
    method: "get",
    path: "/runs/{run_id}/url",
    tags: ["Traces (v2)"],
    summary: "Get the URL of a run's page in the console",
    request: {
      params: runParams,
      query: z.strictObject({
        project_id: uuidParam(),
        trace_id: uuidParam(),
        start_time: timeValue().optional(),
      }),
    },
    responses: {
      200: {
        description: "The page's URL",
        content: { "application/json": { schema: z.object({ url: z.string() }) } },
      },
    },
  }),
  async (c) => {
    const { project_id, trace_id } = c.req.valid("query");
    const { run_id } = c.req.valid("param");
    const found = await runOfProject(c, project_id, run_id);
    if (found.run.trace_id !== trace_id) throw runNotFound(run_id);
    return c.json({ url: new URL(appPath(found), c.req.url).href }, 200);
  },
);

async function queryRuns(c: AppContext, body: RunsQueryBody): Promise<Response> {
  const { workspaceId } = c.var.scope;
  const selection = selectionOf(body);
  const projects = await projectsOf(c, workspaceId, body);
  const cursor = body.cursor ?? null;
  const earliest = projects.earliestStart;
  const bounds =
    earliest === null ? body : { ...body, min_start_time: body.min_start_time ?? earliest };
  const window = windowOf(bounds, cursor?.window, Date.now() * 1000);
  const fields = body.selects ?? DEFAULT_FIELDS;
  return streamItems(c.env, {
    query: {
      workspaceId,
      projectIds: projects.ids,
      selection: { ...selection, ...window },
      order: body.sort_order === "ASC" ? "asc" : "desc",
      after: cursor?.position ?? null,
      payloads: payloadsOfFields(fields),
    },
    limit: body.page_size ?? RUNS_PAGE,
    render: (runs) => toRunsJson(c, workspaceId, runs, fields),
    end: (next) =>
      next === null
        ? { has_more: false }
        : { has_more: true, next_cursor: encodeWindowCursor({ position: next, window }) },
  });
}

function selectionOf(body: RunsQueryBody): Omit<RunSelection, keyof TimeWindow> {
  const { filter, trace_filter, tree_filter } = body;
  const checked = checkedFilters("body", { filter, trace_filter, tree_filter });
  const completed = body.has_error === false ? completedOnly(checked.filter) : checked.filter;
  return {
    ids: body.ids ?? undefined,
    traceId: body.trace_id ?? undefined,
    runType: body.run_type ?? undefined,
    isRoot: body.is_root ?? undefined,
    hasError: body.has_error === true ? true : undefined,
    referenceExampleIds: body.reference_examples ?? undefined,
    // Checked again, because there are limits on all conditions together.
    ...checkedFilters("body", { filter: completed, trace_filter, tree_filter }),
  };
}

type QueriedProjects = {
  ids: string[];
  /** Start of the dataset's first experiment; null if the request names the projects. */
  earliestStart: Micros | null;
};

async function projectsOf(
  c: AppContext,
  workspaceId: string,
  { project_ids, reference_dataset_id }: RunsQueryBody,
): Promise<QueriedProjects> {
  if (project_ids && reference_dataset_id) {
    const msg = "project_ids and reference_dataset_id exclude each other";
    throw invalidField(["body", "reference_dataset_id"], msg, "value_error");
  }
  if (project_ids) {
    await Promise.all(project_ids.map((id) => requireProject(c.env.DB, workspaceId, id)));
    return { ids: project_ids, earliestStart: null };
  }
  if (!reference_dataset_id) {
    throw invalidField(["body", "project_ids"], "Field required", "missing");
  }
  const experiments = await findProjects(
    c.env.DB,
    workspaceId,
    { referenceDatasetIds: [reference_dataset_id] },
    { sortBy: "start_time", descending: false, limit: MAX_EXPERIMENTS, offset: 0 },
  );
  if (experiments === null) {
    const msg = "There are too many projects to look at all of them: name some with project_ids";
    throw invalidField(["body", "reference_dataset_id"], msg, "query_too_large");
  }
  const [first] = experiments;
  return {
    ids: experiments.map(({ id }) => id),
    earliestStart: first === undefined ? null : Number(first.order) * 1000,
  };
}

async function runOfProject(
  c: AppContext,
  projectId: string,
  runId: string,
  payloads: readonly PayloadField[] = [],
): Promise<PlacedRun> {
  const { workspaceId } = c.var.scope;
  await requireProject(c.env.DB, workspaceId, projectId);
  return requireRun(c.env, { workspaceId, runId, projectId, payloads });
}
