import { v7 as uuidv7 } from "uuid";
import type { AssistantRow } from "../../db/assistants-repo.ts";
import { type CronTick, runIdOfTick } from "../../lib/cron-tick.ts";
import { ApiError } from "../../lib/api-error.ts";
import { isObject } from "../../lib/json.ts";
import type { AgentCall } from "../agent-call.ts";
import { resolveAssistant } from "../assistants/resolve-assistant.ts";
import { authorize } from "../auth/authorize.ts";
import { threadWith } from "../auth/thread-access.ts";
import { describedProject } from "../described-project.ts";
import { requestedRevision } from "../graph-host.ts";
import { assertWebhook } from "../webhooks/allowed-webhook.ts";
import { BUSY_TEXT, threadFailure } from "./contract/failures.ts";
import type { CreateRunRequest, Follow, RunPayload } from "./contract/run-request.ts";
import { type RunCreateBody, toRunPayload } from "./run-schemas.ts";
import type { ThreadHandle } from "./thread-stub.ts";
import type { Run } from "./contract/thread-json.ts";

export type NewRunOptions = {
  follow: Follow;
  /** Null for a run that gets its own thread. */
  threadId: string | null;
  createThread: boolean;
  temporary: boolean;
  /** The cron tick that creates the run. A tick has only one run, however often its creation is repeated. */
  tick?: CronTick;
  /** An assistant that this request has already read. It need not be the one that the run names. */
  foreseen?: AssistantRow | null;
};

/** A run that may be created: its assistant exists, and the caller is authorized. */
export type PreparedRun = { thread: ThreadHandle; request: CreateRunRequest };

/** Refuses every request that can be recognized as wrong before anything is stored. */
export async function prepareRun(
  call: AgentCall,
  body: RunCreateBody,
  options: NewRunOptions,
): Promise<PreparedRun> {
  const { follow, tick, foreseen = null } = options;
  // The id is created before anything is awaited, so that the ids of a batch's runs are in the batch's order.
  const runId = tick === undefined ? uuidv7() : runIdOfTick(tick);
  const assistant = await resolveAssistant(call, body.assistant_id, foreseen);
  await assertWebhook(call, body.webhook);
  // A stateless run's thread has the run's id, so `/runs/{run_id}/...` finds it without a look-up.
  const threadId = options.threadId ?? runId;
  const payload = withConfigurable(toRunPayload(body), call.configurable);
  if (payload.langsmith_tracer !== null && call.principal !== null) {
    throw new ApiError("forbidden", "Only a key of the workspace may choose where traces go");
  }
  const access = await authorize(call, "threads:create_run", {
    ...createRunValue(payload),
    thread_id: options.threadId,
    assistant_id: assistant.assistant_id,
    run_id: runId,
    if_not_exists: options.createThread ? "create" : "reject",
  });
  const onDisconnect = body.on_disconnect ?? (follow === "result" ? "cancel" : "continue");
  const request = {
    scope: call.scope,
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
    ttl: (await describedProject(call)).thread_ttl ?? null,
    follow,
    cancel_on_disconnect: onDisconnect === "cancel",
    principal: call.principal,
    ...requestedRevision(call),
    tick,
  };
  return { thread: threadWith(call, threadId, access), request };
}

/** Stores the run, which executes from then on; `stream` is the stream that its creator follows. */
export async function startRun({
  thread,
  request,
}: PreparedRun): Promise<{ run: Run; stream: ReadableStream<Uint8Array> | null }> {
  const created = await thread.createRun(request);
  if (created.ok) return created.value;
  if (created.code === "thread_busy") throw new ApiError("conflict", BUSY_TEXT);
  throw threadFailure(created, request.thread_id);
}

/**
 * Adds the configurable values from headers. They override those of the body, because a gateway may have set them,
 * but the body comes from its client.
 */
function withConfigurable(payload: RunPayload, headers: Record<string, string> = {}): RunPayload {
  const { config } = payload;
  const given = config["configurable"];
  const configurable = { ...(isObject(given) ? given : {}), ...headers };
  return { ...payload, config: { ...config, configurable } };
}

/** Returns a new run in the form that a project's handlers see. */
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
