import { jsonBodyOf, jsonResponse } from "../../http/json-body.ts";
import { createRoute } from "@hono/zod-openapi";
import { noteIgnored } from "../../http/ignored-fields.ts";
import { createRouter } from "../../http/router.ts";
import { agentCall } from "../agent-call.ts";
import type { ResponseConfig } from "../../http/streamed-response.ts";
import {
  deleteItemSchema,
  foundItemsSchema,
  foundNamespacesSchema,
  getItemQuery,
  itemSchema,
  listNamespacesSchema,
  putItemSchema,
  searchItemsSchema,
} from "./schemas.ts";
import {
  deleteItem,
  getItem,
  listNamespaces,
  putItem,
  searchItems,
  storeSettings,
} from "./store-service.ts";

/** Routes of the items that a deployment's graphs keep across threads. */
export const storeRoutes = createRouter();

const foundItems: ResponseConfig = {
  description: "The items of the page",
  content: { "application/json": { schema: foundItemsSchema } },
};

const foundNamespaces: ResponseConfig = {
  description: "The namespaces of the page",
  content: { "application/json": { schema: foundNamespacesSchema } },
};

storeRoutes.openapi(
  createRoute({
    method: "put",
    path: "/store/items",
    tags: ["Store"],
    summary: "Store an item, and replace the one that is stored there",
    request: { body: jsonBodyOf(putItemSchema) },
    responses: { 204: { description: "Stored" } },
  }),
  async (c) => {
    const put = c.req.valid("json");
    const call = agentCall(c);
    const { index } = await storeSettings(call);
    if (index === null && put.index) noteIgnored(c, [{ path: [], keys: ["index"] }]);
    await putItem(call, put);
    return c.body(null, 204);
  },
);

storeRoutes.openapi(
  createRoute({
    method: "get",
    path: "/store/items",
    tags: ["Store"],
    summary: "Get an item",
    request: { query: getItemQuery },
    responses: {
      200: {
        description: "The item; null when there is none",
        content: { "application/json": { schema: itemSchema.nullable() } },
      },
    },
  }),
  async (c) => c.json(await getItem(agentCall(c), c.req.valid("query")), 200),
);

storeRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/store/items",
    tags: ["Store"],
    summary: "Delete an item",
    request: { body: jsonBodyOf(deleteItemSchema) },
    responses: { 204: { description: "Deleted, or the item did not exist" } },
  }),
  async (c) => {
    const { namespace, key } = c.req.valid("json");
    await deleteItem(agentCall(c), namespace ?? [], key);
    return c.body(null, 204);
  },
);

storeRoutes.openapi(
  createRoute({
    method: "post",
    path: "/store/items/search",
    tags: ["Store"],
    summary: "Search items",
    request: { body: jsonBodyOf(searchItemsSchema) },
    responses: { 200: foundItems },
  }),
  async (c) => {
    const search = c.req.valid("json");
    const call = agentCall(c);
    const { index } = await storeSettings(call);
    // Without an index the query is ignored, as other servers of the ecosystem do.
    if (index === null && search.query) noteIgnored(c, [{ path: [], keys: ["query"] }]);
    return jsonResponse(c, await searchItems(call, search));
  },
);

storeRoutes.openapi(
  createRoute({
    method: "post",
    path: "/store/namespaces",
    tags: ["Store"],
    summary: "List namespaces",
    request: { body: jsonBodyOf(listNamespacesSchema) },
    responses: { 200: foundNamespaces },
  }),
  async (c) => jsonResponse(c, await listNamespaces(agentCall(c), c.req.valid("json"))),
);
