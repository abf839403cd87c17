import { agentCall } from "../agent-call.ts";
import { createRoute, z } from "@hono/zod-openapi";
import { type ApiError, invalidField } from "../../lib/api-error.ts";
import type { AppContext } from "../../http/app-types.ts";
import { jsonResponse } from "../../http/json-body.ts";
import { setPaginationHeaders } from "../../http/pagination.ts";
import { createRouter } from "../../http/router.ts";
import { authorize } from "../auth/authorize.ts";
import type { ResponseConfig } from "../../http/streamed-response.ts";
import {
  foundThreadsSchema,
  threadCountSchema,
  threadListQuery,
  type ThreadSearch,
  threadSearchSchema,
} from "./schemas.ts";
import { countIndex, searchIndex } from "./search.ts";

/** Routes that search all threads of a scope. */
export const threadSearchRoutes = createRouter();

const foundThreads: ResponseConfig = {
  description: "The threads of the page",
  content: { "application/json": { schema: foundThreadsSchema } },
};

threadSearchRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/search",
    tags: ["Threads"],
    summary: "Search threads",
    request: {
      body: { required: true, content: { "application/json": { schema: threadSearchSchema } } },
    },
    responses: { 200: foundThreads },
  }),
  (c) => answerSearch(c, c.req.valid("json")),
);

threadSearchRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads",
    tags: ["Threads"],
    summary: "List threads",
    request: { query: threadListQuery },
    responses: { 200: foundThreads },
  }),
  (c) => answerSearch(c, c.req.valid("query")),
);

threadSearchRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/count",
    tags: ["Threads"],
    summary: "Count threads",
    request: {
      body: { required: true, content: { "application/json": { schema: threadCountSchema } } },
    },
    responses: {
      200: {
        description: "How many threads match",
        content: { "application/json": { schema: z.int() } },
      },
    },
  }),
  async (c) => {
    const search = c.req.valid("json");
    const { metadata, values, status } = search;
    const access = await authorize(agentCall(c), "threads:search", { metadata, values, status });
    const total = await countIndex(c.env, c.var.scope, search, access);
    if (total === null) throw tooManyThreads(search);
    return c.json(total, 200);
  },
);

async function answerSearch(c: AppContext, search: ThreadSearch): Promise<Response> {
  const { metadata, values, status, ids, limit, offset } = search;
  const value = { metadata, values, status, ids, limit, offset };
  const access = await authorize(agentCall(c), "threads:search", value);
  const found = await searchIndex(c.env, c.var.scope, search, access);
  if (found === null) throw tooManyThreads(search);
  const { threads, total, returned, page } = found;
  setPaginationHeaders(c, page, { total, returned });
  return jsonResponse(c, threads);
}

function tooManyThreads({ metadata, values }: Pick<ThreadSearch, "metadata" | "values">): ApiError {
  const field = values ? "values" : metadata ? "metadata" : "sort_by";
  const msg =
    "There are too many threads to look at all of them: name the ones to look at with " +
    '"ids", or leave the field out';
  return invalidField(["body", field], msg, "search_too_large");
}
