/**
 * The data that crosses the RPC boundary between a ThreadObject (durable, trusted) and a GraphHost (the
 * isolate that runs user graphs). It is plain structured-clone data only, so that neither side depends on the
 * classes of the other and a graph host can be a separately loaded Worker.
 */

import type {
  CheckpointBatch,
  CheckpointPort,
  StoredCheckpoint,
  WritableCheckpointPort,
} from "./checkpoint-port.ts";
import type { HttpInfo } from "./http-info.ts";
import type { ItemVector, StoreOperation, StoreTurn } from "./store-operations.ts";
import type { StoreSettings } from "./store-settings.ts";
import type { JsonText } from "../lib/json-answer.ts";
import type { Principal } from "../lib/principal.ts";
import type { WebhookRules } from "../lib/webhook-rules.ts";
import type { Scope } from "../lib/scope.ts";

export type RunEvent = { event: string; data: string };

/** One group commit: everything that a run produced since the previous commit, written in one transaction. */
export type RunBatch = { checkpoints: CheckpointBatch; events: RunEvent[] };

/** `follow`: a client is reading the stream, so events should be committed without delay. */
/**
 * `rest_ms`: minimum milliseconds between the start of this commit and that of the next, unless the run
 * waits for the next one.
 */
export type CommitAck =
  | { ok: true; follow: boolean; rest_ms?: number }
  | { ok: false; code: "superseded" };

/** JSON text of `{"post": [...], "patch": [...]}`: runs of a trace in the form that the tracing API accepts. */
export type TraceBatch = { json: string; operations: number };

/** The capability over exactly one attempt of one run. */
export interface RunPort extends CheckpointPort {
  commit(batch: RunBatch): Promise<CommitAck>;
  /**
   * Resolves when the batch is recorded or given up. The caller holds later operations back until then,
   * within bounds.
   */
  trace(batch: TraceBatch): Promise<void>;
  /** Resolves when the run is to be cancelled; never otherwise. */
  cancelled(): Promise<void>;
  /**
   * Performs operations of the store in their order, as many as one turn has time for, and at least a part of
   * the first. Rejects when there are more than MAX_STORE_OPERATIONS, or when one of them is not valid.
   */
  storeTurn(operations: StoreOperation[]): Promise<StoreTurn>;
}

export type RunConfig = {
  tags?: string[];
  recursion_limit?: number;
  run_name?: string;
  max_concurrency?: number;
  /** Milliseconds after which the run fails. */
  timeout?: number;
  configurable: Record<string, unknown>;
  metadata: Record<string, unknown>;
};

export type CheckpointRef = {
  checkpoint_id?: string | undefined;
  checkpoint_ns?: string | undefined;
  checkpoint_map?: Record<string, string> | null | undefined;
};

/** How a run is traced. */
export type TraceSpec = {
  /** Start of the run's first attempt, in milliseconds since the epoch. */
  started_at: number;
  /** Added to the metadata of every run of the trace. */
  metadata: Record<string, string>;
};

export type SendSpec = { node: string; input: unknown };

export type CommandSpec = {
  goto?: string | SendSpec | (string | SendSpec)[] | null | undefined;
  update?: Record<string, unknown> | [string, unknown][] | null | undefined;
  resume?: unknown;
};

export type RunSpec = {
  run_id: string;
  thread_id: string;
  graph_id: string;
  attempt: number;
  /** Whether this attempt continues from checkpoints that an earlier attempt of the same run left. */
  resuming: boolean;
  /** Whether checkpoints are not stored, as for a stateless run whose thread is deleted at the end. */
  temporary: boolean;
  input: unknown;
  command: CommandSpec | null;
  config: RunConfig;
  context: unknown;
  checkpoint: CheckpointRef | null;
  stream_mode: RunStreamMode[];
  stream_subgraphs: boolean;
  interrupt_before: "*" | string[] | null;
  interrupt_after: "*" | string[] | null;
  durability: "sync" | "async" | "exit";
  follow: boolean;
  /** The thread's namespaces that hold checkpoints, so that a new subgraph needs no look-up. */
  namespaces: string[];
  /** The checkpoint that the run starts from, when the ThreadObject knows it; this saves a round trip. */
  start: StoredCheckpoint | null;
  /** Null when the run leaves no trace. */
  trace: TraceSpec | null;
  /** The user for whom the run was requested, as the project's own authentication identified them. */
  principal: Principal | null;
};

export const STREAM_MODES = [
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "custom",
  "events",
  "debug",
  "tasks",
  "checkpoints",
  "tools",
] as const;

export type StreamMode = (typeof STREAM_MODES)[number];

/**
 * A stream mode that sends a pointer to its checkpoint right before each `values` event. Only the platform
 * requests it.
 */
export const CHECKPOINT_POINTERS = "checkpoint-pointers";

export type RunStreamMode = StreamMode | typeof CHECKPOINT_POINTERS;

export type WireInterrupt = { id?: string; value: unknown };

/**
 * The part of a thread's latest checkpoint that the thread's record shows. `values` is JSON text, ready for
 * the wire.
 */
export type ThreadSnapshot = {
  values: string | null;
  next: string[];
  interrupts: Record<string, WireInterrupt[]>;
};

export type RunError = { error: string; message: string };

/**
 * The outcome of an attempt. `tail` is the last batch, so that the run's end and the output before it are one
 * commit.
 */
export type RunOutcome = {
  tail: RunBatch;
  /** The final `values` event (with `__interrupt__` when interrupted), JSON text. */
  result: string | null;
  /** "result" when the result is the state and there are no next nodes; null when the state could not be read. */
  snapshot: ThreadSnapshot | "result" | null;
} & ({ status: "success" | "interrupted" } | { status: "error"; error: RunError });

/** The result of every GraphHost method that can fail because of the caller's input or the project's code. */
export type HostResult<T> =
  | { ok: true; value: T }
  | { ok: false; code: HostErrorCode; message: string };

export type HostErrorCode =
  | "graph_not_found"
  | "invalid_update"
  | "graph_failed"
  | "node_not_found"
  /** The project's index returned no vectors. */
  | "embedding_failed"
  /** The platform's own answer in place of a host that does not answer in time. */
  | "graph_late";

export type GraphInfo = { graph_id: string; description: string | null };

export type GraphSchemas = {
  input: unknown;
  output: unknown;
  state: unknown;
  config: unknown;
};

/** Identifies a graph and the configuration it is built with, on which the graph of a factory may depend. */
export type GraphRef = { graph_id: string; config: RunConfig };

export type StateRequest = GraphRef & {
  thread_id: string;
  checkpoint: CheckpointRef | null;
  subgraphs: boolean;
  /** Whether a run of the thread is in progress. Hosts of earlier builds ignore this. */
  in_flight?: boolean;
};

export type HistoryRequest = GraphRef & {
  thread_id: string;
  checkpoint: CheckpointRef | null;
  limit: number;
  before: string | null;
  filter: Record<string, unknown> | null;
};

export type StateUpdate = {
  values: unknown;
  command?: CommandSpec | null | undefined;
  as_node: string | null;
};

export type UpdateRequest = GraphRef & {
  thread_id: string;
  checkpoint: CheckpointRef | null;
  /** Each inner list is one superstep, written as one checkpoint. */
  supersteps: StateUpdate[][];
};

export type WireCheckpoint = {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string | null;
  checkpoint_map: Record<string, string> | null;
};

/** Describes a project's `Auth` object; `events` are the keys that handlers are registered for. */
export type AuthInfo = {
  events: string[];
  /** Whether a request with a key of the workspace counts as a Studio user. */
  studio: boolean;
  cache: { headers: string[]; ttl_ms: number; max_size: number } | null;
};

export type HeaderLine = { name: string; value: string };

export type AuthenticationRequest = {
  method: string;
  url: string;
  headers: HeaderLine[];
};

export type AuthorizationRequest = Principal & {
  resource: string;
  action: string;
  value: Record<string, unknown>;
};

/** The response that the client is to receive. */
export type AuthRefusal = {
  ok: false;
  status: number;
  detail: string;
  headers: HeaderLine[];
};

export type AuthenticationResult = { ok: true; principal: Principal } | AuthRefusal;

/**
 * The decision of a handler. `filter` is what it returned, null for none. `metadata` is `value.metadata` as
 * the handler left it, and `item`, for the resource "store", has the namespace, key and value as it left
 * them. Hosts of earlier builds send no `item`.
 */
export type AuthorizationResult =
  | { ok: true; filter: Record<string, unknown> | null; metadata: unknown; item?: unknown }
  | AuthRefusal;

export type EmbedRequest =
  | { query: string }
  | { value: Record<string, unknown>; index: string[] | false | null };

/** A graph that cannot be served, and why. */
export type GraphProblem = {
  graph_id: string;
  message: string;
  /** The stack trace, in terms of the bundled modules. */
  stack?: string | undefined;
};

/** The props of a GraphHost: the scope that it serves and, for its `fetch`, the user who sent the request. */
export type HostProps = Scope & { principal?: Principal | null };

/** What happens to the project's threads after this many minutes, unless a thread has a setting of its own. */
export type ProjectTtl = { strategy: "delete" | "keep_latest"; minutes: number };

/** The config and the context of a graph's default assistant, from the project's environment. */
export type AssistantDefaults = { config: Record<string, unknown>; context: unknown };

/** The methods of a GraphHost, as a ThreadObject or a route sees them. */
export interface GraphHostApi {
  describe(): Promise<{
    graphs: GraphInfo[];
    langgraph_version: string;
    /** Null when the project leaves authentication to the platform. */
    auth: AuthInfo | null;
    /** Null, or missing in hosts of earlier builds, when the project has no such settings. */
    http?: HttpInfo | null;
    /** The file names of each user interface, keyed by the name that the project gave it. */
    ui?: Record<string, string[]>;
    /** Missing in hosts of earlier builds. */
    webhooks?: WebhookRules | undefined;
    /** Applies to threads without a setting of their own; missing in hosts of earlier builds. */
    thread_ttl?: ProjectTtl | null | undefined;
    /** The defaults of default assistants, keyed by graph id; missing in hosts of earlier builds. */
    assistants?: Record<string, AssistantDefaults> | null | undefined;
    store: StoreSettings;
  }>;
  /** Checks every export that the project names, without calling factories. */
  check(): Promise<GraphProblem[]>;
  authenticate(request: AuthenticationRequest): Promise<AuthenticationResult>;
  authorize(request: AuthorizationRequest): Promise<AuthorizationResult>;
  /**
   * Returns the headers sent with each webhook, from the project's `langgraph.json`. Only called on hosts
   * whose rules say that there are headers.
   */
  webhookHeaders(): Promise<Record<string, string>>;
  run(spec: RunSpec, port: RunPort): Promise<RunOutcome>;
  /** Returns vectors computed by the project's index; a query has one. Throws when the project has no index. */
  embed(request: EmbedRequest): Promise<HostResult<ItemVector[]>>;
  /** JSON text of a ThreadState. */
  getState(request: StateRequest, port: CheckpointPort): Promise<HostResult<JsonText>>;
  /** JSON text of a list of ThreadStates, newest first. */
  getHistory(request: HistoryRequest, port: CheckpointPort): Promise<HostResult<JsonText>>;
  updateState(
    request: UpdateRequest,
    port: WritableCheckpointPort,
  ): Promise<HostResult<{ checkpoint: WireCheckpoint; snapshot: ThreadSnapshot }>>;
  drawGraph(ref: GraphRef & { xray: boolean | number }): Promise<HostResult<unknown>>;
  schemas(ref: GraphRef): Promise<HostResult<GraphSchemas>>;
  subgraphs(
    ref: GraphRef & { namespace: string | null; recurse: boolean },
  ): Promise<HostResult<Record<string, GraphSchemas>>>;
  /** Returns whether the project's pattern of origins allows browsers to use the API from this origin. */
  allowsOrigin(origin: string): Promise<boolean>;
  /** Returns the text of a file of a user interface; null when there is no such file. */
  uiFile(request: { name: string; file: string }): Promise<string | null>;
}
