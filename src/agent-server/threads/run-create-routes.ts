import { agentCall } from "../agent-call.ts";
import { foreseeAssistant } from "../auth/foreseen-assistant.ts";
import { projectOf } from "../auth/requested-project.ts";
import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../http/app-types.ts";
import { CONNECTIONS, mapLimited } from "../../lib/map-limited.ts";
import { uuidParam } from "../../http/path-params.ts";
import { createRouter } from "../../http/router.ts";
import { type NewRunOptions, type PreparedRun, prepareRun, startRun } from "./new-run.ts";
import { type ResponseConfig, streamResponse } from "../../http/streamed-response.ts";
import type { Follow } from "./contract/run-request.ts";
import {
  runBatchSchema,
  type RunCreateBody,
  runCreateStatefulSchema,
  runCreateStatelessSchema,
  runSchema,
} from "./run-schemas.ts";
import { feedbackLinks } from "../../tracing/feedback-links.ts";

/** Routes that create runs: on a thread, or on their own thread (stateless). */
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
    const { body, temporary } = statelessRun(c.req.valid("json"));
    return createRun(c, body, { follow, threadId: null, createThread: true, temporary });
  });
}

runCreateRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/batch",
    tags: ["Stateless runs"],
    summary: "Create several runs without a thread",
    request: {
      body: { required: true, content: { "application/json": { schema: runBatchSchema } } },
    },
    responses: {
      200: {
        description: "The runs, in the order of the request",
        content: { "application/json": { schema: z.array(runSchema) } },
      },
    },
  }),
  async (c) => {
    const call = agentCall(c);
    // All runs are checked before any is created, so that a refusal leaves no part of the batch behind.
    const prepared = await mapLimited(c.req.valid("json"), CONNECTIONS, (item) => {
      const { body, temporary } = statelessRun(item);
      return prepareRun(call, body, {
        follow: "none",
        threadId: null,
        createThread: true,
        temporary,
      });
    });
    const runs = await mapLimited(
      prepared,
      CONNECTIONS,
      async (each) => (await startRun(await withFeedbackLinks(c, each))).run,
    );
    return c.json(runs, 200);
  },
);

function statelessRun(item: z.infer<typeof runCreateStatelessSchema>) {
  const { on_completion, if_not_exists: _always, ...body } = item;
  return { body, temporary: on_completion !== "keep" };
}

async function createRun(
  c: AppContext,
  body: RunCreateBody,
  options: NewRunOptions,
): Promise<Response> {
  const { follow } = options;
  const foreseen = projectOf(c).deployment?.foreseen ?? null;
  const prepared = await prepareRun(agentCall(c), body, { ...options, foreseen });
  foreseeAssistant(c.var.arrival.deployment, prepared.request.assistant.assistant_id);
  const { run, stream } = await startRun(await withFeedbackLinks(c, prepared));
  const { run_id } = run;
  const path =
    options.threadId === null ? `/runs/${run_id}` : `/threads/${run.thread_id}/runs/${run_id}`;
  c.header("Content-Location", path);
  if (stream === null) return c.json(run);
  // The address at which a client resumes reading when its connection breaks.
  c.header("Location", `${path}/${follow === "events" ? "stream" : "join"}`);
  return streamResponse(c, follow === "events" ? "events" : "json", stream);
}

/** Milliseconds after the latest possible end of a run during which feedback on it can be given. */
const LINK_LIFE_MS = 24 * 60 * 60 * 1000;

/** Gives a run that asks for feedback its links, which are created before the run. */
async function withFeedbackLinks(c: AppContext, prepared: PreparedRun): Promise<PreparedRun> {
  const { request } = prepared;
  const { feedback_keys: keys, after_seconds } = request.payload;
  if (keys === null || keys.length === 0) return prepared;
  const { hosts, runTimeoutMs } = c.var.settings;
  const feedback = await feedbackLinks(c.env.DB, request.scope.workspaceId, {
    runId: request.run_id,
    keys,
    expiresAt: Date.now() + Math.round(after_seconds * 1000) + runTimeoutMs + LINK_LIFE_MS,
    requestUrl: hosts.api === null ? c.req.url : `https://${hosts.api}`,
  });
  return { ...prepared, request: { ...request, feedback } };
}
