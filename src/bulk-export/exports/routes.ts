import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../http/app-types.ts";
import { createRouter } from "../../http/router.ts";
import { workspacePlan } from "../../identity/workspace-plan.ts";
import { findExportProject } from "../../tracing/export.ts";
import { spawnDue, startFollowing, startWaiting } from "../execution/schedule.ts";
import { requireExportPlan } from "../export-plan.ts";
import {
  cancelExport,
  createExport,
  type ExportDeps,
  findExportRuns,
  findExports,
  findSpawnedRuns,
  requireExport,
  requireExportRun,
} from "./export-service.ts";
import {
  exportCreateSchema,
  exportListQuery,
  exportParams,
  exportRunParams,
  exportRunSchema,
  exportSchema,
  exportUpdateSchema,
  spawnedRunsQuery,
  toExportJson,
} from "./schemas.ts";

export const exportRoutes = createRouter();

const tags = ["Bulk exports"];

const oneExport = {
  description: "The export",
  content: { "application/json": { schema: exportSchema } },
};

const exportRuns = {
  description: "The export runs, in the order of their days",
  content: { "application/json": { schema: z.array(exportRunSchema) } },
};

exportRoutes.openapi(
  createRoute({
    method: "get",
    path: "/bulk-exports",
    tags,
    summary: "List exports and schedules, the newest first",
    request: { query: exportListQuery },
    responses: {
      200: {
        description: "All of them, or the page that limit and offset select",
        content: { "application/json": { schema: z.array(exportSchema) } },
      },
    },
  }),
  async (c) => {
    const rows = await findExports(depsOf(c), c.req.valid("query"));
    return c.json(rows.map(toExportJson), 200);
  },
);

exportRoutes.openapi(
  createRoute({
    method: "post",
    path: "/bulk-exports",
    tags,
    summary: "Export the runs of a project and a time range, once or on a schedule",
    request: {
      body: { required: true, content: { "application/json": { schema: exportCreateSchema } } },
    },
    responses: { 200: oneExport },
  }),
  async (c) => {
    requireExportPlan(await workspacePlan(c.env, c.var.scope.workspaceId));
    return c.json(toExportJson(await createExport(depsOf(c), c.req.valid("json"))), 200);
  },
);

// This route comes before those with an id, because `runs` would match as one.
exportRoutes.openapi(
  createRoute({
    method: "get",
    path: "/bulk-exports/runs",
    tags,
    summary: "List the export runs of all exports that a schedule has spawned",
    request: { query: spawnedRunsQuery },
    responses: { 200: exportRuns },
  }),
  async (c) => c.json(await findSpawnedRuns(depsOf(c), c.req.valid("query")), 200),
);

exportRoutes.openapi(
  createRoute({
    method: "get",
    path: "/bulk-exports/{bulk_export_id}",
    tags,
    summary: "Read an export",
    request: { params: exportParams },
    responses: { 200: oneExport },
  }),
  async (c) => {
    const { bulk_export_id } = c.req.valid("param");
    return c.json(toExportJson(await requireExport(depsOf(c), bulk_export_id)), 200);
  },
);

exportRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/bulk-exports/{bulk_export_id}",
    tags,
    summary:
      "Cancel an export; finished files are kept, and exports that a schedule has spawned continue",
    request: {
      params: exportParams,
      body: { required: true, content: { "application/json": { schema: exportUpdateSchema } } },
    },
    responses: { 200: oneExport },
  }),
  async (c) => {
    const { bulk_export_id } = c.req.valid("param");
    return c.json(toExportJson(await cancelExport(depsOf(c), bulk_export_id)), 200);
  },
);

exportRoutes.openapi(
  createRoute({
    method: "get",
    path: "/bulk-exports/{bulk_export_id}/runs",
    tags,
    summary: "List the export runs of an export: one for each UTC day of its range",
    request: { params: exportParams, query: exportListQuery },
    responses: { 200: exportRuns },
  }),
  async (c) => {
    const { bulk_export_id } = c.req.valid("param");
    return c.json(await findExportRuns(depsOf(c), bulk_export_id, c.req.valid("query")), 200);
  },
);

exportRoutes.openapi(
  createRoute({
    method: "get",
    path: "/bulk-exports/{bulk_export_id}/runs/{run_id}",
    tags,
    summary: "Read an export run: its progress, its files and its errors",
    request: { params: exportRunParams },
    responses: {
      200: {
        description: "The export run",
        content: { "application/json": { schema: exportRunSchema } },
      },
    },
  }),
  async (c) => {
    const { bulk_export_id, run_id } = c.req.valid("param");
    return c.json(await requireExportRun(depsOf(c), bulk_export_id, run_id), 200);
  },
);

function depsOf(c: AppContext): ExportDeps {
  const { env } = c;
  const { workspaceId } = c.var.scope;
  const limits = c.var.settings.exportLimits;
  return {
    db: env.DB,
    workspaceId,
    limits,
    hasProject: (projectId) => findExportProject(env, workspaceId, projectId),
    spawnDue: (schedule, now) => spawnDue(env, schedule, limits, now),
    startWaiting: () => startWaiting(env, workspaceId),
    startFollowing: (ended) => startFollowing(env, ended),
  };
}
