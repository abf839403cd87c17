import { createRoute, z } from "@hono/zod-openapi";
import { createRouter } from "../../http/router.ts";
import { reviseDeployment } from "./change-deployment.ts";
import { toDeployment } from "./deployment-json.ts";
import { requireDeployment } from "./require-deployment.ts";
import { deploymentParams, deploymentSchema, revisionCreateSchema } from "./schemas.ts";
import { toRevision } from "./revision-json.ts";
import {
  findRevisions,
  interruptRollout,
  redeployRevision,
  requireRevision,
} from "./revision-service.ts";
import {
  revisionListQuery,
  revisionListSchema,
  revisionParams,
  revisionSchema,
} from "./revision-schemas.ts";

export const revisionRoutes = createRouter();

const tags = ["Deployments"];

const oneRevision = {
  description: "The revision",
  content: { "application/json": { schema: revisionSchema } },
};

const noFields = {
  content: { "application/json": { schema: z.strictObject({}) } },
};

revisionRoutes.openapi(
  createRoute({
    method: "get",
    path: "/deployments/{deployment_id}/revisions",
    tags,
    summary: "List the revisions of a deployment, the newest first",
    request: { params: deploymentParams, query: revisionListQuery },
    responses: {
      200: {
        description: "The revisions of the page, and the offset of the next one",
        content: { "application/json": { schema: revisionListSchema } },
      },
    },
  }),
  async (c) => {
    const { status, limit, offset } = c.req.valid("query");
    const page = { status, limit, offset };
    const found = await findRevisions(c, c.req.valid("param").deployment_id, page);
    return c.json({ resources: found.map(toRevision), offset: offset + found.length }, 200);
  },
);

revisionRoutes.openapi(
  createRoute({
    method: "post",
    path: "/deployments/{deployment_id}/revisions",
    tags,
    summary: "Create a revision; what is not given is as in the one before",
    request: {
      params: deploymentParams,
      body: { required: true, content: { "application/json": { schema: revisionCreateSchema } } },
    },
    responses: { 201: oneRevision },
  }),
  async (c) => {
    const { deployment_id } = c.req.valid("param");
    const revision_id = await reviseDeployment(c, deployment_id, c.req.valid("json"));
    return c.json(toRevision(await requireRevision(c, { deployment_id, revision_id })), 201);
  },
);

revisionRoutes.openapi(
  createRoute({
    method: "get",
    path: "/deployments/{deployment_id}/revisions/{revision_id}",
    tags,
    summary: "Get a revision",
    request: { params: revisionParams },
    responses: { 200: oneRevision },
  }),
  async (c) => c.json(toRevision(await requireRevision(c, c.req.valid("param"))), 200),
);

revisionRoutes.openapi(
  createRoute({
    method: "post",
    path: "/deployments/{deployment_id}/revisions/{revision_id}/redeploy",
    tags,
    summary: "Roll out what a revision has deployed once more, as a new revision",
    request: { params: revisionParams, body: noFields },
    responses: {
      200: {
        description: "The deployment, whose latest revision is the new one",
        content: { "application/json": { schema: deploymentSchema } },
      },
    },
  }),
  async (c) => {
    const path = c.req.valid("param");
    await redeployRevision(c, path);
    return c.json(toDeployment(c, await requireDeployment(c, path.deployment_id)), 200);
  },
);

revisionRoutes.openapi(
  createRoute({
    method: "post",
    path: "/deployments/{deployment_id}/revisions/{revision_id}/interrupt",
    tags,
    summary: "Stop the rollout of a revision",
    request: { params: revisionParams, body: noFields },
    responses: { 200: oneRevision },
  }),
  async (c) => c.json(toRevision(await interruptRollout(c, c.req.valid("param"))), 200),
);
