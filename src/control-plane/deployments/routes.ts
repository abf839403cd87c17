import { createRoute, z } from "@hono/zod-openapi";
import { createRouter } from "../../http/router.ts";
import { requestDeletion, requestDeletions } from "./delete-deployment.ts";
import { changeDeployment } from "./change-deployment.ts";
import { createDeployment } from "./create-deployment.ts";
import { toDeploymentJson } from "./deployment-json.ts";
import { deploymentDepsOf, urlsOf } from "./deps.ts";
import { findDeployments, requireDeployment } from "./find-deployments.ts";
import { TEMPLATE_IDS } from "./revision-source.ts";
import {
  deploymentCreateSchema,
  deploymentDeleteQuery,
  deploymentListQuery,
  deploymentListSchema,
  deploymentParams,
  deploymentPatchSchema,
  deploymentSchema,
  deploymentsDeleteQuery,
  deploymentsDeletedSchema,
} from "./schemas.ts";

export const deploymentRoutes = createRouter();

const tags = ["Deployments"];

const oneDeployment = {
  description: "The deployment, without the values of its secrets",
  content: { "application/json": { schema: deploymentSchema } },
};

deploymentRoutes.openapi(
  createRoute({
    method: "post",
    path: "/deployments",
    tags,
    summary: "Create a deployment, and roll out its first revision",
    request: {
      body: {
        required: true,
        content: { "application/json": { schema: deploymentCreateSchema } },
      },
    },
    responses: { 201: oneDeployment },
  }),
  async (c) => {
    const id = await createDeployment(deploymentDepsOf(c), c.req.valid("json"));
    return c.json(
      toDeploymentJson(urlsOf(c), await requireDeployment(deploymentDepsOf(c), id)),
      201,
    );
  },
);

deploymentRoutes.openapi(
  createRoute({
    method: "get",
    path: "/deployments",
    tags,
    summary: "List deployments, the newest first",
    request: { query: deploymentListQuery },
    responses: {
      200: {
        description: "The deployments of the page, and the offset of the next one",
        content: { "application/json": { schema: deploymentListSchema } },
      },
    },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const found = await findDeployments(deploymentDepsOf(c), query);
    const resources = found.map((each) => toDeploymentJson(urlsOf(c), each));
    return c.json({ resources, offset: query.offset + resources.length }, 200);
  },
);

deploymentRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/deployments",
    tags,
    summary: "Delete several deployments",
    request: { query: deploymentsDeleteQuery },
    responses: {
      200: {
        description: "All of them are being deleted",
        content: { "application/json": { schema: deploymentsDeletedSchema } },
      },
      207: {
        description: "Some of them are being deleted",
        content: { "application/json": { schema: deploymentsDeletedSchema } },
      },
    },
  }),
  async (c) => {
    const result = await requestDeletions(deploymentDepsOf(c), c.req.valid("query").deployment_ids);
    return c.json(result, result.failed.length === 0 ? 200 : 207);
  },
);

// This route comes before those with an id, because `templates` would match as one.
deploymentRoutes.openapi(
  createRoute({
    method: "get",
    path: "/deployments/templates",
    tags,
    summary: "List the templates that can be deployed",
    responses: {
      200: {
        description: "The templates",
        content: {
          "application/json": {
            schema: z
              .object({ resources: z.array(z.object({ template_id: z.string() })) })
              .openapi("TemplatesList"),
          },
        },
      },
    },
  }),
  (c) => c.json({ resources: TEMPLATE_IDS.map((template_id) => ({ template_id })) }, 200),
);

deploymentRoutes.openapi(
  createRoute({
    method: "get",
    path: "/deployments/{deployment_id}",
    tags,
    summary: "Get a deployment",
    request: { params: deploymentParams },
    responses: { 200: oneDeployment },
  }),
  async (c) => {
    const { deployment_id: id } = c.req.valid("param");
    return c.json(
      toDeploymentJson(urlsOf(c), await requireDeployment(deploymentDepsOf(c), id)),
      200,
    );
  },
);

deploymentRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/deployments/{deployment_id}",
    tags,
    summary: "Change a deployment; a change of its source or its secrets makes a revision",
    request: {
      params: deploymentParams,
      body: {
        required: true,
        content: { "application/json": { schema: deploymentPatchSchema } },
      },
    },
    responses: { 200: oneDeployment },
  }),
  async (c) => {
    const { deployment_id: id } = c.req.valid("param");
    await changeDeployment(deploymentDepsOf(c), id, c.req.valid("json"));
    return c.json(
      toDeploymentJson(urlsOf(c), await requireDeployment(deploymentDepsOf(c), id)),
      200,
    );
  },
);

deploymentRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/deployments/{deployment_id}",
    tags,
    summary: "Delete a deployment with all of its data",
    request: { params: deploymentParams, query: deploymentDeleteQuery },
    responses: {
      204: { description: "The deployment is being deleted; it is gone when it is not found" },
    },
  }),
  async (c) => {
    const { delete_tracing_project: deletesProject = false } = c.req.valid("query");
    await requestDeletion(deploymentDepsOf(c), c.req.valid("param").deployment_id, {
      deletesProject,
    });
    return c.body(null, 204);
  },
);
