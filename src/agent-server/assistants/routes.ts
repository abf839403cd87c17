import { jsonBodyOf, jsonResponse } from "../../http/json-body.ts";
import { agentCall } from "../agent-call.ts";
import { createRoute, z } from "@hono/zod-openapi";
import { invalidField } from "../../lib/api-error.ts";
import { booleanParam, integerParam } from "../../http/query-params.ts";
import { setPaginationHeaders } from "../../http/pagination.ts";
import { createRouter } from "../../http/router.ts";
import {
  assistantNotFound,
  countMatchingAssistants,
  createAssistant,
  listAssistants,
  listVersions,
  patchAssistant,
  removeAssistant,
  setLatestVersion,
} from "./assistant-service.ts";
import type { ResponseConfig } from "../../http/streamed-response.ts";
import { findAssistant } from "./resolve-assistant.ts";
import {
  assistantCountSchema,
  assistantCreateSchema,
  assistantPatchSchema,
  assistantSchema,
  assistantSearchSchema,
  assistantVersionSchema,
  versionChangeSchema,
  versionsSearchSchema,
} from "./schemas.ts";

export const assistantRoutes = createRouter();

/** The id of an assistant, or the name of a graph for its default assistant. */
const params = z.object({ assistant_id: z.string() });

const oneAssistant = {
  description: "The assistant",
  content: { "application/json": { schema: assistantSchema } },
};

const foundAssistants: ResponseConfig = {
  description: "The assistants of the page",
  content: { "application/json": { schema: z.array(assistantSchema.partial()) } },
};
const foundVersions: ResponseConfig = {
  description: "The versions of the page",
  content: { "application/json": { schema: z.array(assistantVersionSchema) } },
};

assistantRoutes.openapi(
  createRoute({
    method: "post",
    path: "/assistants",
    tags: ["Assistants"],
    summary: "Create an assistant",
    request: { body: jsonBodyOf(assistantCreateSchema) },
    responses: { 200: oneAssistant },
  }),
  async (c) => c.json(await createAssistant(agentCall(c), c.req.valid("json")), 200),
);

assistantRoutes.openapi(
  createRoute({
    method: "post",
    path: "/assistants/search",
    tags: ["Assistants"],
    summary: "Search assistants",
    request: { body: jsonBodyOf(assistantSearchSchema) },
    responses: { 200: foundAssistants },
  }),
  async (c) => {
    const { json, page, ...counts } = await listAssistants(agentCall(c), c.req.valid("json"));
    setPaginationHeaders(c, page, counts);
    return jsonResponse(c, json);
  },
);

assistantRoutes.openapi(
  createRoute({
    method: "post",
    path: "/assistants/count",
    tags: ["Assistants"],
    summary: "Count assistants",
    request: { body: jsonBodyOf(assistantCountSchema) },
    responses: {
      200: {
        description: "How many assistants match",
        content: { "application/json": { schema: z.int() } },
      },
    },
  }),
  async (c) => c.json(await countMatchingAssistants(agentCall(c), c.req.valid("json")), 200),
);

assistantRoutes.openapi(
  createRoute({
    method: "get",
    path: "/assistants/{assistant_id}",
    tags: ["Assistants"],
    summary: "Get an assistant",
    request: { params },
    responses: { 200: oneAssistant },
  }),
  async (c) => {
    const assistant = await findAssistant(agentCall(c), c.req.valid("param").assistant_id);
    if (assistant === null) throw assistantNotFound();
    return c.json(assistant, 200);
  },
);

assistantRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/assistants/{assistant_id}",
    tags: ["Assistants"],
    summary: "Change an assistant: a new version, which becomes the current one",
    request: { params, body: jsonBodyOf(assistantPatchSchema) },
    responses: { 200: oneAssistant },
  }),
  async (c) => {
    const { assistant_id } = c.req.valid("param");
    return c.json(await patchAssistant(agentCall(c), assistant_id, c.req.valid("json")), 200);
  },
);

assistantRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/assistants/{assistant_id}",
    tags: ["Assistants"],
    summary: "Delete an assistant with its versions, and on request the threads that ran it",
    request: { params, query: z.strictObject({ delete_threads: booleanParam().optional() }) },
    responses: { 204: { description: "Deleted" } },
  }),
  async (c) => {
    const { assistant_id } = c.req.valid("param");
    const { delete_threads: threads = false } = c.req.valid("query");
    await removeAssistant(agentCall(c), assistant_id, { threads });
    return c.body(null, 204);
  },
);

assistantRoutes.openapi(
  createRoute({
    method: "post",
    path: "/assistants/{assistant_id}/versions",
    tags: ["Assistants"],
    summary: "List the versions of an assistant, newest first",
    request: { params, body: jsonBodyOf(versionsSearchSchema) },
    responses: { 200: foundVersions },
  }),
  async (c) => {
    const { assistant_id } = c.req.valid("param");
    const { json, page, ...counts } = await listVersions(
      agentCall(c),
      assistant_id,
      c.req.valid("json"),
    );
    setPaginationHeaders(c, page, counts);
    return jsonResponse(c, json);
  },
);

assistantRoutes.openapi(
  createRoute({
    method: "post",
    path: "/assistants/{assistant_id}/latest",
    tags: ["Assistants"],
    summary: "Make a version the current one",
    request: {
      params,
      // The API's description has `version` in the query, but the SDKs send it in the body.
      query: z.strictObject({ version: integerParam({ min: 1 }).optional() }),
      body: jsonBodyOf(versionChangeSchema),
    },
    responses: { 200: oneAssistant },
  }),
  async (c) => {
    const version = c.req.valid("json").version ?? c.req.valid("query").version;
    if (version === undefined) throw invalidField(["body", "version"], "Field required", "missing");
    const { assistant_id } = c.req.valid("param");
    return c.json(await setLatestVersion(agentCall(c), assistant_id, version), 200);
  },
);
