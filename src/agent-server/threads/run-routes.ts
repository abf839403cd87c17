import { agentCall } from "../agent-call.ts";
import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../http/app-types.ts";
import { jsonResponse } from "../../http/json-body.ts";
import { uuidParam } from "../../http/path-params.ts";
import { booleanParam, integerParam, listParam } from "../../http/query-params.ts";
import { createRouter } from "../../http/router.ts";
import { threadFor } from "../auth/thread-access.ts";
import { cancelRuns } from "./cancel-runs.ts";
import { threadFailure } from "./contract/failures.ts";
import type { ResponseConfig } from "../../http/streamed-response.ts";
import { RUN_FIELDS, runsCancelSchema, runSchema, toCancelTarget } from "./run-schemas.ts";
import { RUN_STATUSES } from "./storage/run-row.ts";
import { streamResponse } from "../../http/streamed-response.ts";
import { STREAM_MODES } from "../../graph-runtime/protocol.ts";
import type { ThreadHandle } from "./thread-stub.ts";

/** Routes that read, join and cancel runs. A stateless run is on the thread that has its id. */
export const runRoutes = createRouter();

const threadParams = z.object({ thread_id: uuidParam() });
const runParams = z.object({ thread_id: uuidParam(), run_id: uuidParam() });
const statelessParams = z.object({ run_id: uuidParam() });

const runs: ResponseConfig = {
  description: "Runs",
  content: { "application/json": { schema: z.array(runSchema.partial()) } },
};
const oneRun = { description: "The run", content: { "application/json": { schema: runSchema } } };
const events = {
  description: "Server-sent events of the run, after `Last-Event-ID` when given",
  content: { "text/event-stream": { schema: z.string() } },
};
const finalValues: ResponseConfig = {
  description: "The run's final values, or `__error__`",
  content: { "application/json": { schema: z.unknown() } },
};

/** Sent by the Python client when its caller names no mode. It means all modes. */
const NO_MODE = "";

const cancelAction = z.enum(["interrupt", "rollback"]);

const streamQuery = z.strictObject({
  stream_mode: listParam([...STREAM_MODES, NO_MODE]).optional(),
  cancel_on_disconnect: booleanParam().optional(),
});
const joinQuery = z.strictObject({ cancel_on_disconnect: booleanParam().optional() });

runRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/runs",
    tags: ["Runs"],
    summary: "List the runs of a thread, newest first",
    request: {
      params: threadParams,
      query: z.strictObject({
        limit: integerParam({ min: 1, max: 1000 }).optional(),
        offset: integerParam({ min: 0 }).optional(),
        status: z.enum(RUN_STATUSES).optional(),
        select: listParam(RUN_FIELDS).optional(),
      }),
    },
    responses: { 200: runs },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { limit = 10, offset = 0, status = null, select } = c.req.valid("query");
    const page = { limit, offset };
    const thread = await threadFor(agentCall(c), "threads:search", { thread_id, ...page });
    const listed = await thread.listRuns({ ...page, status, fields: select ?? null });
    if (listed === null) throw threadFailure({ code: "thread_not_found" }, thread_id);
    return jsonResponse(c, listed);
  },
);

runRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/runs/{run_id}",
    tags: ["Runs"],
    summary: "Get a run",
    request: { params: runParams },
    responses: { 200: oneRun },
  }),
  async (c) => {
    const { thread_id, run_id } = c.req.valid("param");
    const thread = await threadFor(agentCall(c), "threads:read", { thread_id, run_id });
    const run = await thread.getRun(run_id);
    if (run === null) throw threadFailure({ code: "run_not_found" }, thread_id);
    return c.json(run, 200);
  },
);

runRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/threads/{thread_id}/runs/{run_id}",
    tags: ["Runs"],
    summary: "Delete a run and its checkpoints",
    request: { params: runParams },
    responses: { 204: { description: "Deleted" } },
  }),
  async (c) => {
    const { thread_id, run_id } = c.req.valid("param");
    const thread = await threadFor(agentCall(c), "threads:delete", { thread_id, run_id });
    const deleted = await thread.deleteRun(run_id);
    if (!deleted) throw threadFailure({ code: "run_not_found" }, thread_id);
    return c.body(null, 204);
  },
);

runRoutes.openapi(
  createRoute({
    method: "post",
    path: "/threads/{thread_id}/runs/{run_id}/cancel",
    tags: ["Runs"],
    summary: "Cancel a run",
    request: {
      params: runParams,
      query: z.strictObject({
        wait: booleanParam().optional(),
        action: cancelAction.optional(),
      }),
    },
    responses: {
      202: { description: "Cancelling" },
      204: { description: "Cancelled: the run has ended" },
    },
  }),
  async (c) => {
    const { thread_id, run_id } = c.req.valid("param");
    const { wait = false, action = "interrupt" } = c.req.valid("query");
    const metadata = { run_ids: [run_id] };
    const thread = await threadFor(agentCall(c), "threads:update", { thread_id, action, metadata });
    const cancelled = await thread.cancelRun(run_id, { action, wait });
    if (!cancelled.ok) throw threadFailure(cancelled, thread_id);
    return c.body(null, wait ? 204 : 202);
  },
);

runRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/cancel",
    tags: ["Runs"],
    summary: "Cancel runs of a thread, or those of a status on all threads",
    request: {
      query: z.strictObject({ action: cancelAction.optional() }),
      body: { required: true, content: { "application/json": { schema: runsCancelSchema } } },
    },
    responses: { 204: { description: "Cancelling" } },
  }),
  async (c) => {
    const { action = "interrupt" } = c.req.valid("query");
    await cancelRuns(agentCall(c), toCancelTarget(c.req.valid("json")), action);
    return c.body(null, 204);
  },
);

runRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/runs/{run_id}/join",
    tags: ["Runs"],
    summary: "Wait for a run to end",
    request: { params: runParams, query: joinQuery },
    responses: { 200: finalValues },
  }),
  (c) => {
    const { thread_id, run_id } = c.req.valid("param");
    return join(c, thread_id, run_id, c.req.valid("query").cancel_on_disconnect);
  },
);

runRoutes.openapi(
  createRoute({
    method: "get",
    path: "/runs/{run_id}/join",
    tags: ["Stateless runs"],
    summary: "Wait for a stateless run to end",
    request: { params: statelessParams, query: joinQuery },
    responses: { 200: finalValues },
  }),
  (c) => {
    const { run_id } = c.req.valid("param");
    return join(c, run_id, run_id, c.req.valid("query").cancel_on_disconnect);
  },
);

runRoutes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/runs/{run_id}/stream",
    tags: ["Runs"],
    summary: "Join the event stream of a run",
    request: { params: runParams, query: streamQuery },
    responses: { 200: events },
  }),
  (c) => {
    const { thread_id, run_id } = c.req.valid("param");
    return joinStream(c, thread_id, run_id, c.req.valid("query"), {
      Location: `/threads/${thread_id}/runs/${run_id}/stream`,
    });
  },
);

runRoutes.openapi(
  createRoute({
    method: "get",
    path: "/runs/{run_id}/stream",
    tags: ["Stateless runs"],
    summary: "Join the event stream of a stateless run",
    request: { params: statelessParams, query: streamQuery },
    responses: { 200: events },
  }),
  (c) => {
    const { run_id } = c.req.valid("param");
    return joinStream(c, run_id, run_id, c.req.valid("query"), {
      "Content-Location": `/runs/${run_id}`,
      Location: `/runs/${run_id}/stream`,
    });
  },
);

async function join(
  c: AppContext,
  threadId: string,
  runId: string,
  cancelOnDisconnect = false,
): Promise<Response> {
  const thread = await readerOf(c, threadId, runId, cancelOnDisconnect);
  const joined = await thread.joinRun(runId, { cancel_on_disconnect: cancelOnDisconnect });
  if (!joined.ok) throw threadFailure(joined, threadId);
  return streamResponse(c, "json", joined.value);
}

/** `location` is the header with the stream's address, so it is only set if there is a stream. */
async function joinStream(
  c: AppContext,
  threadId: string,
  runId: string,
  query: z.infer<typeof streamQuery>,
  location: Record<string, string>,
): Promise<Response> {
  const { stream_mode = [], cancel_on_disconnect = false } = query;
  const modes = stream_mode.filter((mode) => mode !== NO_MODE);
  const thread = await readerOf(c, threadId, runId, cancel_on_disconnect);
  const joined = await thread.streamRun(runId, {
    last_event_id: lastEventId(c.req.header("last-event-id")),
    modes: modes.length === 0 ? null : modes,
    cancel_on_disconnect,
  });
  if (!joined.ok) throw threadFailure(joined, threadId);
  for (const [name, path] of Object.entries(location)) c.header(name, path);
  return streamResponse(c, "events", joined.value);
}

/**
 * Returns the thread for reading. If the reader's disconnecting cancels the run, it must be allowed to cancel it,
 * too.
 */
async function readerOf(
  c: AppContext,
  thread_id: string,
  run_id: string,
  cancels: boolean,
): Promise<ThreadHandle> {
  const reading = await threadFor(agentCall(c), "threads:read", { thread_id, run_id });
  if (!cancels) return reading;
  const metadata = { run_ids: [run_id] };
  const action = "interrupt";
  const cancelling = await threadFor(agentCall(c), "threads:update", {
    thread_id,
    action,
    metadata,
  });
  const run = await cancelling.getRun(run_id);
  if (run === null) throw threadFailure({ code: "run_not_found" }, thread_id);
  return reading;
}

/**
 * Parses the header. `-1` replays everything; an id that this server did not create is treated as if it were
 * missing.
 */
function lastEventId(header: string | undefined): number | null {
  return header !== undefined && /^(-1|\d{1,15})$/.test(header) ? Number(header) : null;
}
