/**
 * What crosses the RPC boundary between a ThreadObject (durable, trusted) and a GraphHost (the
 * isolate that runs user graphs). Plain structured-clone data only, so that neither side depends on
 * the classes of the other and a graph host can be a separately loaded Worker.
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

/** One group commit: what a run produced since the one before. Written in one transaction. */
export type RunBatch = { checkpoints: CheckpointBatch; events: RunEvent[] };

/** `follow`: somebody reads the stream now, so events should be committed without delay. */
/** `rest_ms`: from the beginning of this commit to that of the next, unless that carries what somebody waits for. */
export type CommitAck =
  | { ok: true; follow: boolean; rest_ms?: number }
  | { ok: false; code: "superseded" };

/** JSON text of `{"post": [...], "patch": [...]}`: runs of a trace as the tracing API takes them. */
export type TraceBatch = { json: string; operations: number };

/** The capability over exactly one attempt of one run. */
export interface RunPort extends CheckpointPort {
  commit(batch: RunBatch): Promise<CommitAck>;
  /** Resolves when the batch is recorded or given up: what is held back until then is bounded. */
  trace(batch: TraceBatch): Promise<void>;
  /** Resolves when the run is to be cancelled; never otherwise. */
  cancelled(): Promise<void>;
  /**
   * Performs operations of the store in their order, as many as one turn has time for, and at least a part of
   * the first. Rejects when there are more than MAX_STORE_OPERATIONS, and when one is not valid.
   */
  storeTurn(operations: StoreOperation[]): Promise<StoreTurn>;
}

export type RunConfig = {
  tags?: string[];
  recursion_limit?: number;
  run_name?: string;
  max_concurrency?: number;
  /** Milliseconds, after which the run fails. */
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
  /** When the first attempt of the run began, epoch milliseconds. */
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
  /** This attempt continues checkpoints that an earlier attempt of the same run left. */
  resuming: boolean;
  /** Its checkpoints are not stored: a stateless run whose thread is deleted at its end. */
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
  /** The thread's namespaces that hold checkpoints, so that a fresh subgraph costs no look-up. */
  namespaces: string[];
  /** The checkpoint the run starts from, when the ThreadObject could tell: saves a round trip. */
  start: StoredCheckpoint | null;
  /** Null when the run leaves no trace. */
  trace: TraceSpec | null;
  /** Whom the project's own authentication found to have asked for the run. */
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

/** Which checkpoint each `values` event is of, right before it. Asked for by the platform only. */
export const CHECKPOINT_POINTERS = "checkpoint-pointers";

export type RunStreamMode = StreamMode | typeof CHECKPOINT_POINTERS;

export type WireInterrupt = { id?: string; value: unknown };

/** What a thread shows of its latest checkpoint. `values` is JSON text, ready for the wire. */
export type ThreadSnapshot = {
  values: string | null;
  next: string[];
  interrupts: Record<string, WireInterrupt[]>;
};

export type RunError = { error: string; message: string };

/** `tail` is the last batch, so that the end of a run is one commit with what precedes it. */
export type RunOutcome = {
  tail: RunBatch;
  /** The final `values` event (with `__interrupt__` when interrupted), JSON text. */
  result: string | null;
  /** "result": the result is the state and nothing is next. Null: it could not be read. */
  snapshot: ThreadSnapshot | "result" | null;
} & ({ status: "success" | "interrupted" } | { status: "error"; error: RunError });

/** Every GraphHost method that can fail on the caller's account answers with this union. */
export type HostResult<T> =
  | { ok: true; value: T }
  | { ok: false; code: HostErrorCode; message: string };

export type HostErrorCode =
  | "graph_not_found"
  | "invalid_update"
  | "graph_failed"
  | "node_not_found"
  /** The project's index gave no vectors. */
  | "embedding_failed"
  /** What the platform answers in place of a host that does not. */
  | "graph_late";

export type GraphInfo = { graph_id: string; description: string | null };

export type GraphSchemas = {
  input: unknown;
  output: unknown;
  state: unknown;
  config: unknown;
};

/** Which graph, built with which configuration (a factory graph may differ by it). */
export type GraphRef = { graph_id: string; config: RunConfig };

export type StateRequest = GraphRef & {
  thread_id: string;
  checkpoint: CheckpointRef | null;
  subgraphs: boolean;
  /** A run of the thread is at work. Hosts of earlier builds do not look at it. */
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

/** What a project's `Auth` object decides; `events` are the keys that handlers are registered for. */
export type AuthInfo = {
  events: string[];
  /** Whether a key of the workspace makes a Studio user. */
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

/** What the client is to be answered. */
export type AuthRefusal = {
  ok: false;
  status: number;
  detail: string;
  headers: HeaderLine[];
};

export type AuthenticationResult = { ok: true; principal: Principal } | AuthRefusal;

/**
 * `filter` as the handler returned it, null for none; `metadata` is what it left in `value`, and `item` what it
 * left of its namespace, key and value there when the resource is the store. Hosts of earlier builds tell no `item`.
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
  /** Where that comes from, in terms of the bundled modules. */
  stack?: string | undefined;
};

/** A GraphHost's props say whose request it serves; those of its `fetch` also who asks. */
export type HostProps = Scope & { principal?: Principal | null };

/** What becomes of the project's threads when so many minutes are over, unless they say otherwise. */
export type ProjectTtl = { strategy: "delete" | "keep_latest"; minutes: number };

/** The config and the context of a graph's default assistant, as the project's environment has them. */
export type AssistantDefaults = { config: Record<string, unknown>; context: unknown };

/** The methods of a GraphHost, as a ThreadObject or a route sees them. */
export interface GraphHostApi {
  describe(): Promise<{
    graphs: GraphInfo[];
    langgraph_version: string;
    /** Null when the project leaves authentication to the platform. */
    auth: AuthInfo | null;
    /** Null, or missing in hosts of earlier builds, when the project says nothing of it. */
    http?: HttpInfo | null;
    /** The files of each user interface, by the names that the project gave them. */
    ui?: Record<string, string[]>;
    /** Hosts of earlier builds do not have it. */
    webhooks?: WebhookRules | undefined;
    /** That of threads without one of their own; hosts of earlier builds have none. */
    thread_ttl?: ProjectTtl | null | undefined;
    /** What default assistants are made of, by graph; hosts of earlier builds tell none. */
    assistants?: Record<string, AssistantDefaults> | null | undefined;
    store: StoreSettings;
  }>;
  /** Looks at every export that the project names, without calling a factory. */
  check(): Promise<GraphProblem[]>;
  authenticate(request: AuthenticationRequest): Promise<AuthenticationResult>;
  authorize(request: AuthorizationRequest): Promise<AuthorizationResult>;
  /** What is sent with each webhook, by the project's `langgraph.json`; only of hosts whose rules say that there are. */
  webhookHeaders(): Promise<Record<string, string>>;
  run(spec: RunSpec, port: RunPort): Promise<RunOutcome>;
  /** Vectors by the project's index: only for a project that describes one. A query has one vector. */
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
  /** Whether the project's pattern of origins allows this one to browsers. */
  allowsOrigin(origin: string): Promise<boolean>;
  /** The text of a file of a user interface; null when there is none. */
  uiFile(request: { name: string; file: string }): Promise<string | null>;
}
