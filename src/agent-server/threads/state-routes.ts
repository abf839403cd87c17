import { agentCall } from "../agent-call.ts";
import { createRoute, z } from "@hono/zod-openapi";
import type { CheckpointRef } from "../../graph-runtime/protocol.ts";
import type { AppContext } from "../../http/app-types.ts";
import { jsonResponse } from "../../http/json-body.ts";
import { uuidParam } from "../../http/path-params.ts";
import { booleanParam, integerParam } from "../../http/query-params.ts";
import { createRouter } from "../../http/router.ts";
import { threadFor } from "../auth/thread-access.ts";
import { requestedRevision } from "../graph-host.ts";
import { threadFailure } from "./contract/failures.ts";
import type { ResponseConfig } from "../../http/streamed-response.ts";
import type { HistoryQuery } from "./runs/thread-states.ts";
import {
  beforeId,
  historySchema,
  stateCheckpointSchema,
  stateUpdateSchema,
  threadStateSchema,
} from "./thread-schemas.ts";

/**
 * Routes for the state of a thread: the current one, the one at a checkpoint, its history, and updates from
 * outside a run.
 */
export const stateRoutes = createRouter();

const params = z.object({ thread_id: uuidParam() });
const stateQuery = z.strictObject({ subgraphs: booleanParam().optional() });
const oneState: ResponseConfig = {
  description: "The state",
  content: { "application/json": { schema: threadStateSchema } },
};
const states: ResponseConfig = {
  description: "States, newest first",
  content: { "application/json": { schema: z.array(threadStateSchema) } },
};

stateRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/state",
    tags: ["Thread state"],
    summary: "Get the newest state of a thread",
    request: { params, query: stateQuery },
    responses: { 200: oneState },
  }),
  (c) => {
    const { subgraphs = false } = c.req.valid("query");
    return readState(c, c.req.valid("param").thread_id, null, subgraphs);
  },
);

stateRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/state/{checkpoint_id}",
    tags: ["Thread state"],
    summary: "Get the state of a thread at a checkpoint",
    request: {
      params: z.object({ thread_id: uuidParam(), checkpoint_id: uuidParam() }),
      query: stateQuery,
    },
    responses: { 200: oneState },
  }),
  (c) => {
    const { thread_id, checkpoint_id } = c.req.valid("param");
    const { subgraphs = false } = c.req.valid("query");
    return readState(c, thread_id, { checkpoint_id, checkpoint_ns: "" }, subgraphs);
  },
);

stateRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/{thread_id}/state/checkpoint",
    tags: ["Thread state"],
    summary: "Get the state of a thread, or of a subgraph, at a checkpoint",
    request: {
      params,
      query: stateQuery,
      body: { required: true, content: { "application/json": { schema: stateCheckpointSchema } } },
    },
    responses: { 200: oneState },
  }),
  (c) => {
    const { checkpoint, subgraphs } = c.req.valid("json");
    const { thread_id } = c.req.valid("param");
    const withSubgraphs = subgraphs ?? c.req.valid("query").subgraphs ?? false;
    return readState(c, thread_id, toCheckpointRef(checkpoint), withSubgraphs);
  },
);

stateRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/{thread_id}/state",
    tags: ["Thread state"],
    summary: "Update the state of a thread as if a node had run",
    request: {
      params,
      body: { required: true, content: { "application/json": { schema: stateUpdateSchema } } },
    },
    responses: {
      200: {
        description: "The checkpoint that the update created",
        content: { "application/json": { schema: z.object({ checkpoint: z.unknown() }) } },
      },
    },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { values = null, as_node, checkpoint, checkpoint_id } = c.req.valid("json");
    const at = toCheckpointRef(checkpoint ?? (checkpoint_id ? { checkpoint_id } : null));
    const thread = await threadFor(agentCall(c), "threads:update", { thread_id });
    const updated = await thread.updateState({
      ...requestedRevision(agentCall(c)),
      checkpoint: at,
      graph_id: null,
      supersteps: [[{ values, as_node: as_node ?? null }]],
    });
    if (!updated.ok) throw threadFailure(updated, thread_id);
    return c.json({ checkpoint: updated.value }, 200);
  },
);

stateRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/history",
    tags: ["Thread state"],
    summary: "List the past states of a thread",
    request: {
      params,
      query: z.strictObject({
        limit: integerParam({ min: 1, max: 1000 }).optional(),
        before: z.string().optional(),
      }),
    },
    responses: { 200: states },
  }),
  (c) => {
    const { limit = DEFAULT_HISTORY_LIMIT, before = null } = c.req.valid("query");
    const query = { checkpoint: null, limit, before, filter: null };
    return readHistory(c, c.req.valid("param").thread_id, query);
  },
);

stateRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/{thread_id}/history",
    tags: ["Thread state"],
    summary: "Search the past states of a thread",
    request: {
      params,
      body: { required: true, content: { "application/json": { schema: historySchema } } },
    },
    responses: { 200: states },
  }),
  (c) => {
    const { limit, before, metadata, checkpoint } = c.req.valid("json");
    return readHistory(c, c.req.valid("param").thread_id, {
      checkpoint: toCheckpointRef(checkpoint),
      limit: limit ?? DEFAULT_HISTORY_LIMIT,
      before: beforeId(before),
      filter: metadata ?? null,
    });
  },
);

const DEFAULT_HISTORY_LIMIT = 10;

async function readState(
  c: AppContext,
  threadId: string,
  checkpoint: CheckpointRef | null,
  subgraphs: boolean,
): Promise<Response> {
  const thread = await threadFor(agentCall(c), "threads:read", { thread_id: threadId });
  const state = await thread.getState({
    ...requestedRevision(agentCall(c)),
    checkpoint,
    subgraphs,
  });
  if (!state.ok) throw threadFailure(state, threadId);
  return jsonResponse(c, state.value);
}

async function readHistory(
  c: AppContext,
  threadId: string,
  query: Omit<HistoryQuery, "revision_id">,
): Promise<Response> {
  const thread = await threadFor(agentCall(c), "threads:read", { thread_id: threadId });
  const history = await thread.getHistory({ ...requestedRevision(agentCall(c)), ...query });
  if (!history.ok) throw threadFailure(history, threadId);
  return jsonResponse(c, history.value);
}

function toCheckpointRef(
  checkpoint:
    | {
        checkpoint_id?: string | null | undefined;
        checkpoint_ns?: string | null | undefined;
        checkpoint_map?: Record<string, string> | null | undefined;
      }
    | null
    | undefined,
): CheckpointRef | null {
  if (!checkpoint) return null;
  return {
    checkpoint_id: checkpoint.checkpoint_id ?? undefined,
    checkpoint_ns: checkpoint.checkpoint_ns ?? undefined,
    checkpoint_map: checkpoint.checkpoint_map,
  };
}
