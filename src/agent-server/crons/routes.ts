import { createRoute, z } from "@hono/zod-openapi";
import { jsonBodyOf, jsonResponse } from "../../http/json-body.ts";
import { setPaginationHeaders } from "../../http/pagination.ts";
import { uuidParam } from "../../http/path-params.ts";
import { createRouter } from "../../http/router.ts";
import { agentCall } from "../agent-call.ts";
import type { ResponseConfig } from "../../http/streamed-response.ts";
import {
  countMatchingCrons,
  createCron,
  getCron,
  listCrons,
  patchCron,
  removeCron,
} from "./cron-service.ts";
import {
  cronCountSchema,
  cronCreateSchema,
  cronPatchSchema,
  cronSchema,
  cronSearchSchema,
  foundCronsSchema,
  threadCronCreateSchema,
} from "./schemas.ts";

/** Routes of crons, which create runs on a schedule. */
export const cronRoutes = createRouter();

const params = z.object({ cron_id: uuidParam() });

const oneCron = {
  description: "The cron",
  content: { "application/json": { schema: cronSchema } },
};

const foundCrons: ResponseConfig = {
  description: "The crons of the page",
  content: { "application/json": { schema: foundCronsSchema } },
};

cronRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/crons",
    tags: ["Crons"],
    summary: "Create a cron that runs on a new thread each time",
    request: { body: jsonBodyOf(cronCreateSchema) },
    responses: { 200: oneCron },
  }),
  async (c) => c.json(await createCron(agentCall(c), null, c.req.valid("json")), 200),
);

cronRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/{thread_id}/runs/crons",
    tags: ["Crons"],
    summary: "Create a cron that runs on a thread",
    request: {
      params: z.object({ thread_id: uuidParam() }),
      body: jsonBodyOf(threadCronCreateSchema),
    },
    responses: { 200: oneCron },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    return c.json(await createCron(agentCall(c), thread_id, c.req.valid("json")), 200);
  },
);

cronRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/crons/search",
    tags: ["Crons"],
    summary: "Search crons",
    request: { body: jsonBodyOf(cronSearchSchema) },
    responses: { 200: foundCrons },
  }),
  async (c) => {
    const { json, page, ...counts } = await listCrons(agentCall(c), c.req.valid("json"));
    setPaginationHeaders(c, page, counts);
    return jsonResponse(c, json);
  },
);

cronRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/crons/count",
    tags: ["Crons"],
    summary: "Count crons",
    request: { body: jsonBodyOf(cronCountSchema) },
    responses: {
      200: {
        description: "How many crons match",
        content: { "application/json": { schema: z.int() } },
      },
    },
  }),
  async (c) => c.json(await countMatchingCrons(agentCall(c), c.req.valid("json")), 200),
);

cronRoutes.openapi(
  createRoute({
    method: "get",
    path: "/runs/crons/{cron_id}",
    tags: ["Crons"],
    summary: "Get a cron",
    request: { params },
    responses: { 200: oneCron },
  }),
  async (c) => c.json(await getCron(agentCall(c), c.req.valid("param").cron_id), 200),
);

cronRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/runs/crons/{cron_id}",
    tags: ["Crons"],
    summary: "Change a cron",
    request: { params, body: jsonBodyOf(cronPatchSchema) },
    responses: { 200: oneCron },
  }),
  async (c) => {
    const { cron_id } = c.req.valid("param");
    return c.json(await patchCron(agentCall(c), cron_id, c.req.valid("json")), 200);
  },
);

cronRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/runs/crons/{cron_id}",
    tags: ["Crons"],
    summary: "Delete a cron and keep its runs",
    request: { params },
    responses: {
      200: {
        description: "Deleted",
        content: { "application/json": { schema: z.object({}) } },
      },
    },
  }),
  async (c) => {
    await removeCron(agentCall(c), c.req.valid("param").cron_id);
    return c.json({}, 200);
  },
);
