import { createRoute, z } from "@hono/zod-openapi";
import { createRouter } from "../../http/router.ts";
import { reviseDeployment } from "./change-deployment.ts";
import { toDeploymentJson, toRevisionJson } from "./deployment-json.ts";
import { deploymentDepsOf, urlsOf } from "./deps.ts";
import { findRevisions, requireDeployment, requireRevision } from "./find-deployments.ts";
import { deploymentParams, deploymentSchema, revisionCreateSchema } from "./schemas.ts";
import { interruptRollout, redeployRevision } from "./revision-service.ts";
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
    const found = await findRevisions(
      deploymentDepsOf(c),
      c.req.valid("param").deployment_id,
      page,
    );
    return c.json({ resources: found.map(toRevisionJson), offset: offset + found.length }, 200);
  },
);

revisionRoutes.openapi(
  createRoute({
    method: "post",
    path: "/deployments/{deployment_id}/revisions",
    tags,
    summary: "Create a revision; fields that are not given are taken from the revision before",
    request: {
      params: deploymentParams,
      body: { required: true, content: { "application/json": { schema: revisionCreateSchema } } },
    },
    responses: { 201: oneRevision },
  }),
  async (c) => {
    const { deployment_id } = c.req.valid("param");
    const revision_id = await reviseDeployment(
      deploymentDepsOf(c),
      deployment_id,
      c.req.valid("json"),
    );
    return c.json(
      toRevisionJson(await requireRevision(deploymentDepsOf(c), { deployment_id, revision_id })),
      201,
    );
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
  async (c) =>
    c.json(toRevisionJson(await requireRevision(deploymentDepsOf(c), c.req.valid("param"))), 200),
);

revisionRoutes.openapi(
  createRoute({
    method: "post",
    path: "/deployments/{deployment_id}/revisions/{revision_id}/redeploy",
    tags,
    summary: "Deploy the source of a revision again, as a new revision",
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
    await redeployRevision(deploymentDepsOf(c), path);
    return c.json(
      toDeploymentJson(urlsOf(c), await requireDeployment(deploymentDepsOf(c), path.deployment_id)),
      200,
    );
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
  async (c) =>
    c.json(toRevisionJson(await interruptRollout(deploymentDepsOf(c), c.req.valid("param"))), 200),
);
