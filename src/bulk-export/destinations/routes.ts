import { toIso } from "../../lib/time.ts";
import { createRoute, z } from "@hono/zod-openapi";
import {
  countExportDestinations,
  type ListedDestination,
  listExportDestinations,
} from "../../db/export-destinations-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { setPaginationHeaders } from "../../http/pagination.ts";
import { createRouter } from "../../http/router.ts";
import { workspacePlan } from "../../identity/workspace-plan.ts";
import { requireExportPlan } from "../export-plan.ts";
import {
  createDestination,
  removeDestination,
  requireDestination,
  rotateCredentials,
} from "./destination-service.ts";
import {
  destinationCreateSchema,
  type DestinationJson,
  destinationListQuery,
  destinationParams,
  destinationSchema,
  destinationUpdateSchema,
} from "./schemas.ts";

/** Routes for destinations: the buckets to which exports are written. */
export const destinationRoutes = createRouter();

const tags = ["Bulk exports"];

const oneDestination = {
  description: "The destination",
  content: { "application/json": { schema: destinationSchema } },
};

destinationRoutes.openapi(
  createRoute({
    method: "post",
    path: "/bulk-exports/destinations",
    tags,
    summary: "Create a destination, after a test of its write access",
    request: {
      body: {
        required: true,
        content: { "application/json": { schema: destinationCreateSchema } },
      },
    },
    responses: { 200: oneDestination },
  }),
  async (c) => {
    requireExportPlan(await workspacePlan(c.env, c.var.scope.workspaceId));
    return c.json(toDestinationJson(await createDestination(depsOf(c), c.req.valid("json"))), 200);
  },
);

destinationRoutes.openapi(
  createRoute({
    method: "get",
    path: "/bulk-exports/destinations",
    tags,
    summary: "List the workspace's destinations, the newest first",
    request: { query: destinationListQuery },
    responses: {
      200: {
        description: "The destinations of the page",
        content: { "application/json": { schema: z.array(destinationSchema) } },
      },
    },
  }),
  async (c) => {
    const { limit, offset = 0 } = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    const [rows, total] = await Promise.all([
      listExportDestinations(c.env.DB, workspaceId, { limit, offset }),
      countExportDestinations(c.env.DB, workspaceId),
    ]);
    setPaginationHeaders(c, { limit: limit ?? total, offset }, { total, returned: rows.length });
    return c.json(rows.map(toDestinationJson), 200);
  },
);

destinationRoutes.openapi(
  createRoute({
    method: "get",
    path: "/bulk-exports/destinations/{destination_id}",
    tags,
    summary: "Get a destination",
    request: { params: destinationParams },
    responses: { 200: oneDestination },
  }),
  async (c) => {
    const { destination_id: id } = c.req.valid("param");
    return c.json(toDestinationJson(await requireDestination(depsOf(c), id)), 200);
  },
);

destinationRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/bulk-exports/destinations/{destination_id}",
    tags,
    summary: "Replace a destination's credentials, after a test of the new ones",
    request: {
      params: destinationParams,
      body: {
        required: true,
        content: { "application/json": { schema: destinationUpdateSchema } },
      },
    },
    responses: { 200: oneDestination },
  }),
  async (c) => {
    requireExportPlan(await workspacePlan(c.env, c.var.scope.workspaceId));
    const { destination_id: id } = c.req.valid("param");
    return c.json(
      toDestinationJson(await rotateCredentials(depsOf(c), id, c.req.valid("json"))),
      200,
    );
  },
);

destinationRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/bulk-exports/destinations/{destination_id}",
    tags,
    summary: "Delete a destination that no export needs; exported files are kept",
    request: { params: destinationParams },
    responses: {
      200: {
        description: "The destination and its credentials are deleted",
        content: { "application/json": { schema: z.object({}) } },
      },
    },
  }),
  async (c) => {
    requireExportPlan(await workspacePlan(c.env, c.var.scope.workspaceId));
    await removeDestination(depsOf(c), c.req.valid("param").destination_id);
    return c.json({}, 200);
  },
);

function depsOf(c: AppContext): Parameters<typeof createDestination>[0] {
  return { db: c.env.DB, settings: c.var.settings, workspaceId: c.var.scope.workspaceId };
}

function toDestinationJson({ destination: row, names }: ListedDestination): DestinationJson {
  return {
    id: row.id,
    tenant_id: row.workspace_id,
    destination_type: "s3",
    display_name: row.display_name,
    config: {
      bucket_name: row.bucket_name,
      prefix: row.prefix,
      region: row.region,
      endpoint_url: row.endpoint_url,
      include_bucket_in_prefix: row.include_bucket_in_prefix,
    },
    credentials_keys: names === null ? [] : (JSON.parse(names) as string[]),
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  };
}
