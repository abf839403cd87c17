import { agentCall } from "../agent-call.ts";
import { createRoute, z } from "@hono/zod-openapi";
import { v7 as uuidv7 } from "uuid";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { uuidParam } from "../../http/path-params.ts";
import { createRouter } from "../../http/router.ts";
import { resolveAssistant } from "../assistants/resolve-assistant.ts";
import { authorize } from "../auth/authorize.ts";
import { threadWith } from "../auth/thread-access.ts";
import { requestedRevision } from "../graph-host.ts";
import { BUSY_TEXT, threadFailure } from "./contract/failures.ts";
import type { ResponseConfig } from "../../http/streamed-response.ts";
import type { Follow, RunPayload } from "./contract/run-request.ts";
import {
  type RunCreateBody,
  runCreateStatefulSchema,
  runCreateStatelessSchema,
  runSchema,
  toRunPayload,
} from "./run-schemas.ts";
import { streamResponse } from "../../http/streamed-response.ts";

/** Creates runs: on a thread, or on a thread of their own (stateless). */
export const runCreateRoutes = createRouter();

const RESPONSES: Record<Follow, ResponseConfig & { suffix: string }> = {
  none: {
    suffix: "",
    description: "The run, which executes in the background",
    content: { "application/json": { schema: runSchema } },
  },
  events: {
    suffix: "/stream",
    description: "Server-sent events of the run",
    content: { "text/event-stream": { schema: z.string() } },
  },
  result: {
    suffix: "/wait",
    description: "The run's final values, or `__error__`",
    content: { "application/json": { schema: z.unknown() } },
  },
};

for (const follow of ["none", "events", "result"] as const) {
  const { suffix, ...response } = RESPONSES[follow];
  const stateful = createRoute({
    method: "post",
    path: `/threads/{thread_id}/runs${suffix}`,
    tags: ["Runs"],
    summary: `Create a run on a thread${suffix}`,
    request: {
      params: z.object({ thread_id: uuidParam() }),
      body: {
        required: true,
        content: { "application/json": { schema: runCreateStatefulSchema } },
      },
    },
    responses: { 200: response },
  });
  runCreateRoutes.openapi(stateful, (c) => {
    const { if_not_exists, ...body } = c.req.valid("json");
    const threadId = c.req.valid("param").thread_id;
    const createThread = if_not_exists === "create";
    return createRun(c, body, { follow, threadId, createThread, temporary: false });
  });

  const stateless = createRoute({
    method: "post",
    path: `/runs${suffix}`,
    tags: ["Stateless runs"],
    summary: `Create a run without a thread${suffix}`,
    request: {
      body: {
        required: true,
        content: { "application/json": { schema: runCreateStatelessSchema } },
      },
    },
    responses: { 200: response },
  });
  runCreateRoutes.openapi(stateless, (c) => {
    const { on_completion, if_not_exists: _always, ...body } = c.req.valid("json");
    const temporary = on_completion !== "keep";
    return createRun(c, body, { follow, threadId: null, createThread: true, temporary });
  });
}

async function createRun(
  c: AppContext,
  body: RunCreateBody,
  options: {
    follow: Follow;
    threadId: string | null;
    createThread: boolean;
    temporary: boolean;
  },
): Promise<Response> {
  const { scope } = c.var;
  const { follow } = options;
  const assistant = await resolveAssistant(agentCall(c), body.assistant_id);
  const runId = uuidv7();
  // A stateless run's thread has the run's id, so `/runs/{run_id}/...` finds it without a look-up.
  const threadId = options.threadId ?? runId;
  const payload = toRunPayload(body);
  const access = await authorize(agentCall(c), "threads:create_run", {
    ...createRunValue(payload),
    thread_id: options.threadId,
    assistant_id: assistant.assistant_id,
    run_id: runId,
    if_not_exists: options.createThread ? "create" : "reject",
  });
  const onDisconnect = body.on_disconnect ?? (follow === "result" ? "cancel" : "continue");
  const created = await threadWith(agentCall(c), threadId, access).createRun({
    scope,
    thread_id: threadId,
    run_id: runId,
    assistant: {
      assistant_id: assistant.assistant_id,
      graph_id: assistant.graph_id,
      config: assistant.config,
      context: assistant.context,
      metadata: assistant.metadata,
    },
    payload: { ...payload, metadata: access.metadata ?? {} },
    create_thread: options.createThread,
    temporary: options.temporary,
    follow,
    cancel_on_disconnect: onDisconnect === "cancel",
    principal: c.var.principal,
    ...requestedRevision(agentCall(c)),
  });
  if (!created.ok) {
    if (created.code === "thread_busy") throw new ApiError("conflict", BUSY_TEXT);
    throw threadFailure(created, threadId);
  }
  const { run, stream } = created.value;
  const path = options.threadId === null ? `/runs/${runId}` : `/threads/${threadId}/runs/${runId}`;
  c.header("Content-Location", path);
  if (stream === null) return c.json(run);
  // Where a client goes on reading when its connection breaks.
  c.header("Location", `${path}/${follow === "events" ? "stream" : "join"}`);
  return streamResponse(c, follow === "events" ? "events" : "json", stream);
}

/** A new run as a project's handlers are shown it. */
function createRunValue({ metadata, multitask_strategy, after_seconds, ...kwargs }: RunPayload) {
  return {
    status: "pending",
    metadata,
    multitask_strategy,
    prevent_insert_if_inflight: multitask_strategy === "reject",
    after_seconds,
    kwargs,
  };
}
