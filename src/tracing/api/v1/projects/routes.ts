import { createRoute, z } from "@hono/zod-openapi";
import { jsonResponse } from "../../../../http/json-body.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { booleanParam } from "../../../../http/query-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { projectMetadata } from "../../../query/run-stats.ts";
import { listProjects } from "./list-projects.ts";
import { uuidListParam } from "../params.ts";
import {
  changeProject,
  createProject,
  projectNotFound,
  readProject,
  removeProjects,
} from "../../../projects/project-service.ts";
import {
  projectCreateSchema,
  projectListQuery,
  projectMetadataQuery,
  projectReadQuery,
  projectSchema,
  projectUpdateSchema,
  toProjectChange,
  toProjectJson,
} from "./schemas.ts";
import { projectStats } from "./project-stats.ts";

const DEFAULT_TOP_VALUES = 10;

/** Routes of tracing projects, which the API calls "sessions". */
export const projectRoutes = createRouter();

const params = z.object({ session_id: uuidParam() });

const tags = ["Tracing projects"];

const oneProject = {
  description: "The project",
  content: { "application/json": { schema: projectSchema } },
};

const deleted = {
  description: "Deleted; the traces are deleted in the background",
  content: { "application/json": { schema: z.object({}) } },
};

projectRoutes.openapi(
  createRoute({
    method: "get",
    path: "/sessions",
    tags,
    summary: "List projects",
    request: { query: projectListQuery },
    responses: {
      200: {
        description: "The projects of the page",
        content: { "application/json": { schema: z.array(projectSchema) } },
      },
    },
  }),
  async (c) => {
    const json = await listProjects(c.env, c.var.scope.workspaceId, c.req.valid("query"));
    // A long response is streamed, and the router cannot check a stream.
    return jsonResponse(c, json) as never;
  },
);

projectRoutes.openapi(
  createRoute({
    method: "post",
    path: "/sessions",
    tags,
    summary: "Create a project",
    request: {
      query: z.strictObject({ upsert: booleanParam().optional() }),
      body: { required: true, content: { "application/json": { schema: projectCreateSchema } } },
    },
    responses: { 200: oneProject },
  }),
  async (c) => {
    const { upsert = false } = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    const body = c.req.valid("json");
    const given = { ...toProjectChange(body), name: body.name, id: body.id ?? undefined };
    const row = await createProject(c.env.DB, workspaceId, given, { upsert });
    return c.json(toProjectJson(row), 200);
  },
);

projectRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/sessions",
    tags,
    summary: "Delete projects with their traces",
    request: { query: z.strictObject({ session_ids: uuidListParam() }) },
    responses: { 200: deleted },
  }),
  async (c) => {
    await removeProjects(c.env, c.var.scope.workspaceId, c.req.valid("query").session_ids);
    return c.json({}, 200);
  },
);

projectRoutes.openapi(
  createRoute({
    method: "get",
    path: "/sessions/{session_id}",
    tags,
    summary: "Get a project",
    request: { params, query: projectReadQuery },
    responses: { 200: oneProject },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    const row = await readProject(c.env.DB, workspaceId, c.req.valid("param").session_id);
    if (query.include_stats !== true) return c.json(toProjectJson(row), 200);
    const stats = await projectStats(c.env, workspaceId, [row.id], query);
    return c.json({ ...toProjectJson(row), ...stats.get(row.id) }, 200);
  },
);

projectRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/sessions/{session_id}",
    tags,
    summary: "Change a project; a null field keeps its value",
    request: {
      params,
      body: { required: true, content: { "application/json": { schema: projectUpdateSchema } } },
    },
    responses: { 200: oneProject },
  }),
  async (c) => {
    const { session_id: id } = c.req.valid("param");
    const change = toProjectChange(c.req.valid("json"));
    const row = await changeProject(c.env.DB, c.var.scope.workspaceId, id, change);
    return c.json(toProjectJson(row), 200);
  },
);

projectRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/sessions/{session_id}",
    tags,
    summary: "Delete a project with its traces",
    request: { params },
    responses: { 200: deleted },
  }),
  async (c) => {
    const ids = [c.req.valid("param").session_id];
    const removed = await removeProjects(c.env, c.var.scope.workspaceId, ids);
    if (removed === 0) throw projectNotFound();
    return c.json({}, 200);
  },
);

projectRoutes.openapi(
  createRoute({
    method: "get",
    path: "/sessions/{session_id}/metadata",
    tags,
    summary: "Get the most frequent values of the runs' metadata",
    request: { params, query: projectMetadataQuery },
    responses: {
      200: {
        description: "Values by metadata key, the most frequent first",
        content: { "application/json": { schema: z.record(z.string(), z.array(z.string())) } },
      },
    },
  }),
  async (c) => {
    const { metadata_keys: keys, start_time: startTime, k, root_runs_only } = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    const { id: projectId } = await readProject(
      c.env.DB,
      workspaceId,
      c.req.valid("param").session_id,
    );
    const values = await projectMetadata(
      c.env,
      { workspaceId, projectId },
      {
        k: k ?? DEFAULT_TOP_VALUES,
        rootsOnly: root_runs_only ?? false,
        ...(keys === undefined ? {} : { keys }),
        ...(startTime === undefined ? {} : { startTime }),
      },
    );
    return c.json(values, 200);
  },
);
