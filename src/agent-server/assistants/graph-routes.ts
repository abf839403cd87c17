import { agentCall } from "../agent-call.ts";
import { createRoute, z } from "@hono/zod-openapi";
import type { GraphSchemas, HostErrorCode, HostResult } from "../../graph-runtime/protocol.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError, type ErrorCode } from "../../lib/api-error.ts";
import { booleanParam } from "../../http/query-params.ts";
import { createRouter } from "../../http/router.ts";
import { requestedGraphs } from "../graph-host.ts";
import { assistantNotFound } from "./assistant-service.ts";
import { toGraphRef } from "./known-schemas.ts";
import { findAssistant } from "./resolve-assistant.ts";
import { graphDrawingSchema, graphSchemasSchema } from "./schemas.ts";
import type { Assistant } from "./assistant-json.ts";

/** Routes that describe an assistant's graph: its nodes, schemas and subgraphs. */
export const assistantGraphRoutes = createRouter();

const params = z.object({ assistant_id: z.string() });
const subgraphParams = params.extend({ namespace: z.string() });

/** A depth, or a boolean that says whether to expand subgraphs at all. */
const xrayParam = z
  .union([
    booleanParam(),
    z
      .string()
      .regex(/^[1-9]\d{0,2}$/)
      .transform(Number),
  ])
  .openapi({ type: ["boolean", "integer"] });

const subgraphsQuery = z.strictObject({ recurse: booleanParam().optional() });

const subgraphsResponse = {
  description: "Schemas by namespace",
  content: {
    "application/json": { schema: z.record(z.string(), graphSchemasSchema.loose()) },
  },
};

assistantGraphRoutes.openapi(
  createRoute({
    method: "get",
    path: "/assistants/{assistant_id}/graph",
    tags: ["Assistants"],
    summary: "Draw the graph of an assistant",
    request: { params, query: z.strictObject({ xray: xrayParam.optional() }) },
    responses: {
      200: {
        description: "Nodes and edges",
        content: { "application/json": { schema: graphDrawingSchema } },
      },
    },
  }),
  async (c) => {
    const assistant = await requireAssistant(c, c.req.valid("param").assistant_id);
    const { xray = false } = c.req.valid("query");
    const host = requestedGraphs(agentCall(c));
    const drawn = valueOf(await host.drawGraph({ ...toGraphRef(assistant), xray }), assistant);
    return c.json(graphDrawingSchema.loose().parse(drawn), 200);
  },
);

assistantGraphRoutes.openapi(
  createRoute({
    method: "get",
    path: "/assistants/{assistant_id}/schemas",
    tags: ["Assistants"],
    summary: "Get the schemas of an assistant's graph",
    request: { params },
    responses: {
      200: {
        description: "JSON schemas",
        content: { "application/json": { schema: graphSchemasSchema } },
      },
    },
  }),
  async (c) => {
    const assistant = await requireAssistant(c, c.req.valid("param").assistant_id);
    const described = await requestedGraphs(agentCall(c)).schemas(toGraphRef(assistant));
    return c.json(toWireSchemas(assistant.graph_id, valueOf(described, assistant)), 200);
  },
);

assistantGraphRoutes.openapi(
  createRoute({
    method: "get",
    path: "/assistants/{assistant_id}/subgraphs",
    tags: ["Assistants"],
    summary: "Get the schemas of the subgraphs",
    request: { params, query: subgraphsQuery },
    responses: { 200: subgraphsResponse },
  }),
  async (c) => {
    const { assistant_id } = c.req.valid("param");
    const { recurse = false } = c.req.valid("query");
    return c.json(await subgraphsOf(c, assistant_id, { namespace: null, recurse }), 200);
  },
);

assistantGraphRoutes.openapi(
  createRoute({
    method: "get",
    path: "/assistants/{assistant_id}/subgraphs/{namespace}",
    tags: ["Assistants"],
    summary: "Get the schemas of the subgraphs in a namespace",
    request: { params: subgraphParams, query: subgraphsQuery },
    responses: { 200: subgraphsResponse },
  }),
  async (c) => {
    const { assistant_id, namespace } = c.req.valid("param");
    const { recurse = false } = c.req.valid("query");
    return c.json(await subgraphsOf(c, assistant_id, { namespace, recurse }), 200);
  },
);

async function subgraphsOf(
  c: AppContext,
  assistantId: string,
  query: { namespace: string | null; recurse: boolean },
) {
  const assistant = await requireAssistant(c, assistantId);
  const described = await requestedGraphs(agentCall(c)).subgraphs({
    ...toGraphRef(assistant),
    ...query,
  });
  return Object.fromEntries(
    Object.entries(valueOf(described, assistant)).map(([namespace, schemas]) => {
      const { input, output, state, config } = schemas;
      // The API's description calls them `input_schema` etc., but clients of the JS server read `input` etc.
      const names = { input, output, state, config };
      return [namespace, { ...toWireSchemas(assistant.graph_id, schemas), ...names }];
    }),
  );
}

function toWireSchemas(graphId: string, schemas: GraphSchemas) {
  return {
    graph_id: graphId,
    input_schema: schemas.input,
    output_schema: schemas.output,
    state_schema: schemas.state,
    config_schema: schemas.config,
    context_schema: schemas.config,
  };
}

async function requireAssistant(c: AppContext, idOrGraph: string): Promise<Assistant> {
  const assistant = await findAssistant(agentCall(c), idOrGraph);
  if (assistant === null) throw assistantNotFound();
  return assistant;
}

const CODES = {
  graph_not_found: "not_found",
  node_not_found: "not_found",
  invalid_update: "validation",
  graph_failed: "bad_request",
  embedding_failed: "bad_request",
  graph_late: "timed_out",
} as const satisfies Record<HostErrorCode, ErrorCode>;

function valueOf<T>(result: HostResult<T>, assistant: Assistant): T {
  if (result.ok) return result.value;
  if (result.code === "graph_not_found") {
    throw new ApiError("not_found", `Graph "${assistant.graph_id}" not found`);
  }
  throw new ApiError(CODES[result.code], result.message);
}
