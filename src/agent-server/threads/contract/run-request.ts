import type { CronTick } from "../../../lib/cron-tick.ts";
import { isObject, objectOrEmpty } from "../../../lib/json.ts";
import type {
  CheckpointRef,
  CommandSpec,
  RunConfig,
  RunSpec,
  RunStreamMode,
  TraceSpec,
} from "../../../graph-runtime/protocol.ts";
import type { StoredCheckpoint } from "../../../graph-runtime/checkpoint-port.ts";
import type { Principal } from "../../../lib/principal.ts";
import type { Scope } from "../../../lib/scope.ts";
import type { MultitaskStrategy, RunRow } from "../storage/run-row.ts";
import type { ThreadTtl } from "../storage/thread-ttl.ts";

type RunAssistant = {
  assistant_id: string;
  graph_id: string;
  config: Record<string, unknown>;
  context: unknown;
  metadata: Record<string, unknown>;
};

/** The validated body of a request that creates a run, with defaults filled in. */
export type RunPayload = {
  input: unknown;
  command: CommandSpec | null;
  checkpoint: CheckpointRef | null;
  metadata: Record<string, unknown>;
  config: Record<string, unknown>;
  context: unknown;
  interrupt_before: "*" | string[] | null;
  interrupt_after: "*" | string[] | null;
  stream_mode: RunStreamMode[];
  stream_subgraphs: boolean;
  stream_resumable: boolean;
  multitask_strategy: MultitaskStrategy;
  durability: "sync" | "async" | "exit";
  after_seconds: number;
  /** The URL that is called when the run ends. */
  webhook?: string;
  /** The keys for which feedback is requested. Each gets a link. */
  feedback_keys: string[] | null;
  langsmith_tracer: RunTracerRequest | null;
};

/** The project that a run's trace goes to, instead of the deployment's, and the example that the run belongs to. */
export type RunTracerRequest = { project_name: string | null; example_id: string | null };

/** The content of the answer to the creating request, besides the run. */
export type Follow = "none" | "events" | "result";

export type CreateRunRequest = {
  scope: Scope;
  thread_id: string;
  run_id: string;
  assistant: RunAssistant;
  payload: RunPayload;
  /** Whether to create the thread if it does not exist; otherwise the request fails with `thread_not_found`. */
  create_thread: boolean;
  /** Whether the thread serves only this run, and is deleted when it ends. */
  temporary: boolean;
  /** The time to live of the thread, if it is created. */
  ttl?: ThreadTtl | null;
  follow: Follow;
  cancel_on_disconnect: boolean;
  /** The user that the run acts for, if the project authenticates its users. The run's nodes see it. */
  principal: Principal | null;
  /** The revision whose graphs run until the run ends; null for the graphs that the Worker was built with. */
  revision_id: string | null;
  /** The cron tick that creates the run. */
  tick?: CronTick | undefined;
  /** Links through which feedback on the run can be given, by key. */
  feedback?: Record<string, string>;
};

/** What a run executes. It is stored with the run, so later changes of the assistant do not affect it. */
export type RunKwargs = Omit<
  RunPayload,
  "metadata" | "multitask_strategy" | "after_seconds" | "stream_resumable" | "config"
> & { config: RunConfig; temporary: boolean; resumable: boolean };

/** Whether a key belongs to the server, in any spelling that a client may send. */
function isReservedKey(key: string): boolean {
  return key.startsWith("__") || key.startsWith("langgraph_auth_") || key === "agent_auth_user";
}

/**
 * Merges the settings key by key: the run overrides the assistant, and the server's ids override both. `context`
 * is merged shallowly if both are objects.
 */
export function toKwargs(
  request: CreateRunRequest,
  threadMetadata: Record<string, unknown>,
): RunKwargs {
  const { assistant, payload, run_id, thread_id } = request;
  const { metadata: runMetadata, config, ...rest } = payload;
  const { multitask_strategy: _s, after_seconds: _a, stream_resumable, ...kwargs } = rest;
  return {
    ...kwargs,
    config: {
      ...withoutUndefined(assistant.config, config),
      configurable: {
        ...publicKeys(assistant.config["configurable"]),
        ...publicKeys(config["configurable"]),
        run_id,
        thread_id,
        graph_id: assistant.graph_id,
        assistant_id: assistant.assistant_id,
        ...tracerKeys(payload.langsmith_tracer),
      },
      metadata: {
        ...assistant.metadata,
        ...ownMetadata(threadMetadata),
        ...objectOrEmpty(config["metadata"]),
        ...runMetadata,
      },
    },
    context: mergeContext(assistant.context, payload.context),
    temporary: request.temporary,
    resumable: stream_resumable,
  };
}

/** Returns the names and values under which graphs find the requested trace settings. */
function tracerKeys(tracer: RunTracerRequest | null): Record<string, string> {
  const { project_name = null, example_id = null } = tracer ?? {};
  return {
    ...(project_name === null ? {} : { langsmith_project: project_name }),
    ...(example_id === null ? {} : { langsmith_example_id: example_id }),
  };
}

/** Returns one attempt of a stored run in the form that the graph host executes. */
export function toRunSpec(
  run: RunRow,
  threadId: string,
  kwargs: RunKwargs,
  found: {
    resuming: boolean;
    namespaces: string[];
    start: StoredCheckpoint | null;
    follow: boolean;
    trace: TraceSpec | null;
  },
): RunSpec {
  const {
    resumable: _resumable,
    webhook: _webhook,
    feedback_keys: _feedback,
    langsmith_tracer: _tracer,
    ...rest
  } = kwargs;
  return {
    ...rest,
    ...found,
    run_id: run.run_id,
    thread_id: threadId,
    graph_id: run.graph_id,
    attempt: run.attempt,
    principal: run.principal === null ? null : JSON.parse(run.principal),
  };
}

/** Removes what the thread records about its latest run, which may have used a different graph. */
function ownMetadata(threadMetadata: Record<string, unknown>): Record<string, unknown> {
  const { graph_id: _graph, assistant_id: _assistant, ...rest } = threadMetadata;
  return rest;
}

function mergeContext(base: unknown, over: unknown): unknown {
  if (over === undefined || over === null) return base;
  return isObject(base) && isObject(over) ? { ...base, ...over } : over;
}

function publicKeys(configurable: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(objectOrEmpty(configurable)).filter(([key]) => !isReservedKey(key)),
  );
}

function withoutUndefined(
  base: Record<string, unknown>,
  over: Record<string, unknown>,
): Pick<RunConfig, "tags" | "recursion_limit" | "run_name" | "max_concurrency" | "timeout"> {
  const merged = { ...base, ...over };
  const { tags, recursion_limit, run_name, max_concurrency, timeout } = merged;
  return {
    ...(Array.isArray(tags) ? { tags: tags.map(String) } : {}),
    ...(typeof recursion_limit === "number" ? { recursion_limit } : {}),
    ...(typeof run_name === "string" ? { run_name } : {}),
    ...(typeof max_concurrency === "number" ? { max_concurrency } : {}),
    ...(typeof timeout === "number" ? { timeout } : {}),
  };
}
