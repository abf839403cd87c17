import { createRoute, z } from "@hono/zod-openapi";
import { setPaginationHeaders } from "../../../../http/pagination.ts";
import { createRouter } from "../../../../http/router.ts";
import {
  createPrice,
  listPrices,
  removePrice,
  replacePrice,
} from "../../../usage/workspace-prices.ts";
import {
  modelPriceBodySchema,
  modelPriceListQuery,
  modelPriceParams,
  modelPriceSchema,
  toModelPriceFields,
  toModelPriceJson,
} from "./schemas.ts";

export const modelPriceRoutes = createRouter();

const tags = ["Model prices"];

const body = {
  required: true,
  content: { "application/json": { schema: modelPriceBodySchema } },
};

const onePrice = {
  description: "The price",
  content: { "application/json": { schema: modelPriceSchema } },
};

modelPriceRoutes.openapi(
  createRoute({
    method: "get",
    path: "/model-price-map",
    tags,
    summary: "List the workspace's model prices, followed by the built-in ones",
    request: { query: modelPriceListQuery },
    responses: {
      200: {
        description: "The prices of the page",
        content: { "application/json": { schema: z.array(modelPriceSchema) } },
      },
    },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    const { prices, total } = await listPrices(c.env.DB, workspaceId, query);
    setPaginationHeaders(c, query, { total, returned: prices.length });
    return c.json(
      prices.map(({ price, isOwn }) => toModelPriceJson(price, isOwn ? workspaceId : null)),
      200,
    );
  },
);

modelPriceRoutes.openapi(
  createRoute({
    method: "post",
    path: "/model-price-map",
    tags,
    summary: "Create a model price; it applies to runs that arrive from then on",
    request: { body },
    responses: { 200: onePrice },
  }),
  async (c) => {
    const { workspaceId } = c.var.scope;
    const fields = toModelPriceFields(c.req.valid("json"));
    const price = await createPrice(c.env.DB, workspaceId, fields);
    return c.json(toModelPriceJson(price, workspaceId), 200);
  },
);

modelPriceRoutes.openapi(
  createRoute({
    method: "put",
    path: "/model-price-map/{id}",
    tags,
    summary: "Replace a model price of the workspace",
    request: { params: modelPriceParams, body },
    responses: { 200: onePrice },
  }),
  async (c) => {
    const { id } = c.req.valid("param");
    const { workspaceId } = c.var.scope;
    const fields = toModelPriceFields(c.req.valid("json"));
    const price = await replacePrice(c.env.DB, workspaceId, id, fields);
    return c.json(toModelPriceJson(price, workspaceId), 200);
  },
);

modelPriceRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/model-price-map/{id}",
    tags,
    summary: "Delete a model price of the workspace",
    request: { params: modelPriceParams },
    responses: {
      200: {
        description: "The workspace no longer has this price",
        content: { "application/json": { schema: z.object({}) } },
      },
    },
  }),
  async (c) => {
    await removePrice(c.env.DB, c.var.scope.workspaceId, c.req.valid("param").id);
    return c.json({}, 200);
  },
);
