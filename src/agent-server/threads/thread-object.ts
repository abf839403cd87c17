import { DurableObject } from "cloudflare:workers";
import type {
  CheckpointRef,
  GraphHostApi,
  RunConfig,
  StateUpdate,
  WireCheckpoint,
} from "../../graph-runtime/protocol.ts";
import { graphHost } from "../graph-host.ts";
import { storeOf } from "../store/store-object.ts";
import type { Scope } from "../../lib/scope.ts";
import type { CancelAction } from "./execution.ts";
import { IndexOutbox } from "./index-outbox.ts";
import { RunQueue } from "./run-queue.ts";
import { ReadPort, UpdatePort } from "./run-port.ts";
import type { CreateRunRequest } from "./run-request.ts";
import { RunStreams } from "./run-streams.ts";
import type { RunRow, RunStatus } from "./run-table.ts";
import type { ThreadRow } from "./thread-record.ts";
import { hasSchema } from "./thread-schema.ts";
import { ThreadStorage } from "./thread-storage.ts";
import { type Run, type Thread, toRun, toThread } from "./wire.ts";

/** While a run is in flight: keeps the object awake, and finds the run again after a crash. */
const HEARTBEAT_MS = 5000;

/** When an index row that could not be written at once is tried again. */
const INDEX_RETRY_MS = 30_000;

export type Failure<Code extends string> = { ok: false; code: Code; message?: string };
export type Result<T, Code extends string> = { ok: true; value: T } | Failure<Code>;

export type CreateThreadRequest = {
  scope: Scope;
  thread_id: string;
  metadata: Record<string, unknown>;
  if_exists: "raise" | "do_nothing";
};

export type StateQuery = { checkpoint: CheckpointRef | null; subgraphs: boolean };

export type HistoryQuery = {
  checkpoint: CheckpointRef | null;
  limit: number;
  before: string | null;
  filter: Record<string, unknown> | null;
};

export type EventsQuery = {
  last_event_id: number | null;
  modes: string[] | null;
  cancel_on_disconnect: boolean;
};

/**
 * One thread: its runs, its checkpoints, its event log, and nobody else's. The object's single thread
 * of execution is what makes runs of a thread execute one at a time.
 *
 * Alarm: one for whatever is due next: the heartbeat of a run in flight, a delayed run, an index row
 * still to be written, events and results whose retention ends.
 * An object opened for an id that does not exist stores nothing.
 */
export class ThreadObject extends DurableObject<Env> {
  readonly #storage: ThreadStorage;
  readonly #streams: RunStreams;
  readonly #queue: RunQueue;
  readonly #index: IndexOutbox;
  #alarmAt: number | null = null;
  #exists: boolean;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#storage = new ThreadStorage(ctx.storage);
    this.#exists = hasSchema(ctx.storage.sql);
    if (this.#exists) this.#storage.migrate();
    this.#streams = new RunStreams(this.#storage.log, {
      hasEnded: (seq) => this.#hasEnded(seq),
      resultOf: (seq) => this.#resultBySeq(seq),
      onLeave: () => this.#deleteIfDone(),
    });
    this.#index = new IndexOutbox(env, this.#storage);
    this.#queue = new RunQueue({
      storage: this.#storage,
      streams: this.#streams,
      host: () => this.#host(),
      store: (operations) => storeOf(env, this.#scope()).execute(operations),
      now: () => Date.now(),
      retentionMs: Number(env.RESUMABLE_STREAM_TTL_SECONDS) * 1000,
      onChange: () => this.#changed(),
      onTemporaryEnd: () => this.#deleteIfDone(),
    });
  }

  async create(request: CreateThreadRequest): Promise<Result<Thread, "thread_exists">> {
    const existing = this.#wake();
    if (existing !== null) {
      if (request.if_exists === "raise") return { ok: false, code: "thread_exists" };
      return { ok: true, value: this.#thread(existing) };
    }
    this.#make(request.scope, request.thread_id, request.metadata, false);
    await this.#index.drain();
    return { ok: true, value: this.#thread(this.#storage.thread.get()) };
  }

  async get(): Promise<Thread | null> {
    const row = this.#wake();
    return row === null ? null : this.#thread(row);
  }

  async patch(metadata: Record<string, unknown>): Promise<Thread | null> {
    if (this.#wake() === null) return null;
    this.#storage.thread.mergeMetadata(metadata, Date.now());
    this.#changed();
    await this.#index.drain();
    return this.#thread(this.#storage.thread.get());
  }

  /** False when there is no such thread. */
  async remove(): Promise<boolean> {
    if (this.#wake() === null) return false;
    this.#queue.abandon();
    this.#storage.thread.markDeleted();
    this.#scheduleAlarm();
    await this.#finishRemoval();
    return true;
  }

  async createRun(
    request: CreateRunRequest,
  ): Promise<
    Result<{ run: Run; stream: ReadableStream<Uint8Array> | null }, "thread_not_found" | "thread_busy">
  > {
    if (this.#wake() === null) {
      if (!request.create_thread) return { ok: false, code: "thread_not_found" };
      const { scope, thread_id, payload, temporary } = request;
      this.#make(scope, thread_id, payload.metadata, temporary);
    }
    const accepted = this.#queue.enqueue(request);
    if (!accepted.ok) return { ok: false, code: "thread_busy" };
    const { run, kwargs } = accepted;
    const onDisconnect = request.cancel_on_disconnect ? () => this.#cancelLater(run.run_id) : null;
    let stream: ReadableStream<Uint8Array> | null = null;
    if (request.follow === "events") {
      stream = this.#streams.events(run.seq, { after: -1, accept: null, onDisconnect });
    } else if (request.follow === "result") {
      stream = this.#streams.result(run.seq, onDisconnect);
    }
    const wire = toRun(run, request.thread_id, kwargs);
    this.#queue.pump();
    this.#changed();
    return { ok: true, value: { run: wire, stream } };
  }

  async listRuns(options: {
    limit: number;
    offset: number;
    status: RunStatus | null;
  }): Promise<Run[] | null> {
    const thread = this.#wake();
    if (thread === null) return null;
    return this.#storage.runs.list(options).map((run) => this.#run(run, thread.thread_id));
  }

  async getRun(runId: string): Promise<Run | null> {
    const thread = this.#wake();
    const run = thread === null ? null : this.#storage.runs.get(runId);
    return thread === null || run === null ? null : this.#run(run, thread.thread_id);
  }

  /** A run in flight is cancelled first; its checkpoints go with it. */
  async deleteRun(runId: string): Promise<boolean> {
    if (this.#wake() === null) return false;
    const run = this.#storage.runs.get(runId);
    if (run === null) return false;
    if (isInFlight(run)) await this.#queue.cancel(run, "rollback");
    else this.#storage.transaction(() => this.#queue.erase(run));
    this.#changed();
    return true;
  }

  /** With `wait`, resolves when the run has ended. A run that has ended is left as it is. */
  async cancelRun(
    runId: string,
    options: { action: CancelAction; wait: boolean },
  ): Promise<Result<null, "run_not_found">> {
    const run = this.#wake() === null ? null : this.#storage.runs.get(runId);
    if (run === null) return { ok: false, code: "run_not_found" };
    if (!isInFlight(run)) return { ok: true, value: null };
    const cancelled = this.#queue.cancel(run, options.action).then(() => this.#queue.pump());
    if (options.wait) await cancelled;
    return { ok: true, value: null };
  }

  /** The run's final values as a JSON body that begins at once and ends with the run. */
  async joinRun(
    runId: string,
    options: { cancel_on_disconnect: boolean },
  ): Promise<Result<ReadableStream<Uint8Array>, "thread_not_found" | "run_not_found">> {
    const found = this.#findRun(runId);
    if (!found.ok) return found;
    const run = found.value;
    const onDisconnect = options.cancel_on_disconnect ? () => this.#cancelLater(runId) : null;
    if (!isInFlight(run) && this.#queue.result(run) === null) {
      return { ok: true, value: textStream(await this.#oldResult(run)) };
    }
    return { ok: true, value: this.#streams.result(run.seq, onDisconnect) };
  }

  async streamRun(
    runId: string,
    query: EventsQuery,
  ): Promise<Result<ReadableStream<Uint8Array>, "thread_not_found" | "run_not_found">> {
    const found = this.#findRun(runId);
    if (!found.ok) return found;
    const run = found.value;
    // Without a last event id a reader joins in: it gets what is produced from now on.
    const after = query.last_event_id ?? this.#storage.log.nextId(run.seq) - 1;
    const { modes } = query;
    const stream = this.#streams.events(run.seq, {
      after,
      accept: modes === null ? null : (event) => isOfModes(event, modes),
      onDisconnect: query.cancel_on_disconnect ? () => this.#cancelLater(runId) : null,
    });
    return { ok: true, value: stream };
  }

  /** JSON text of a ThreadState. */
  async getState(
    query: StateQuery,
  ): Promise<Result<string, "thread_not_found" | "graph_failed">> {
    const thread = this.#wake();
    if (thread === null) return { ok: false, code: "thread_not_found" };
    if (thread.graph_id === null) return { ok: true, value: EMPTY_STATE };
    const state = await this.#host().getState(
      { ...this.#graphRef(thread, thread.graph_id), ...query },
      new ReadPort(this.#storage.checkpoints),
    );
    return state.ok ? state : { ok: false, code: "graph_failed", message: state.message };
  }

  /** JSON text of a list of ThreadStates. */
  async getHistory(
    query: HistoryQuery,
  ): Promise<Result<string, "thread_not_found" | "graph_failed">> {
    const thread = this.#wake();
    if (thread === null) return { ok: false, code: "thread_not_found" };
    if (thread.graph_id === null) return { ok: true, value: "[]" };
    const history = await this.#host().getHistory(
      { ...this.#graphRef(thread, thread.graph_id), ...query },
      new ReadPort(this.#storage.checkpoints),
    );
    return history.ok ? history : { ok: false, code: "graph_failed", message: history.message };
  }

  async updateState(request: {
    checkpoint: CheckpointRef | null;
    supersteps: StateUpdate[][];
    /** For a thread that has not run yet: the graph whose state this is. */
    graph_id: string | null;
  }): Promise<
    Result<
      WireCheckpoint,
      "thread_not_found" | "thread_busy" | "no_graph" | "invalid_update" | "graph_failed"
    >
  > {
    const thread = this.#wake();
    if (thread === null) return { ok: false, code: "thread_not_found" };
    if (this.#storage.runs.inFlight().length > 0) return { ok: false, code: "thread_busy" };
    const metadataGraph: unknown = JSON.parse(thread.metadata)["graph_id"];
    const graphId =
      request.graph_id ??
      thread.graph_id ??
      (typeof metadataGraph === "string" ? metadataGraph : null);
    if (graphId === null) return { ok: false, code: "no_graph" };
    const { checkpoints, thread: record } = this.#storage;
    const updated = await this.#host().updateState(
      {
        ...this.#graphRef(thread, graphId),
        checkpoint: request.checkpoint,
        supersteps: request.supersteps,
      },
      new UpdatePort(checkpoints, (batch) =>
        this.#storage.transaction(() => checkpoints.apply(batch, null)),
      ),
    );
    if (!updated.ok) {
      const code = updated.code === "invalid_update" ? "invalid_update" : "graph_failed";
      return { ok: false, code, message: updated.message };
    }
    const { checkpoint, snapshot } = updated.value;
    this.#storage.transaction(() => {
      record.setGraph(graphId);
      record.setState(snapshot, snapshot.next.length > 0 ? "interrupted" : "idle", null);
      record.settle(this.#storage.runs.inFlight().length > 0, Date.now());
    });
    this.#changed();
    await this.#index.drain();
    return { ok: true, value: checkpoint };
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    const thread = this.#storageRow();
    if (thread === null) return;
    if (thread.deleted === 1) {
      await this.#finishRemoval();
      return;
    }
    this.#queue.pump();
    this.#timeOut();
    this.#storage.transaction(() => {
      this.#queue.expire();
      this.#index.recordConfirmed();
    });
    this.#deleteIfDone();
    this.#scheduleAlarm();
    await this.#index.drain();
  }

  /** Every entry comes through here: after a crash it is what finds the interrupted run. */
  #wake(): ThreadRow | null {
    const thread = this.#storageRow();
    if (thread === null || thread.deleted === 1) return null;
    this.#queue.pump();
    return thread;
  }

  #storageRow(): ThreadRow | null {
    return this.#exists ? this.#storage.thread.find() : null;
  }

  #make(
    scope: Scope,
    threadId: string,
    metadata: Record<string, unknown>,
    temporary: boolean,
  ): void {
    this.#storage.transaction(() => {
      if (!this.#exists) this.#storage.migrate();
      this.#storage.thread.create({
        thread_id: threadId,
        workspace_id: scope.workspaceId,
        deployment_id: scope.deploymentId,
        metadata,
        temporary,
        now: Date.now(),
      });
    });
    this.#exists = true;
    this.#scheduleAlarm();
  }

  #changed(): void {
    if (!this.#exists) return;
    this.#scheduleAlarm();
    this.#index.drainSoon();
  }

  /** Sets the alarm to what is due next; written only when that changed for the earlier. */
  #scheduleAlarm(): void {
    const { runs } = this.#storage;
    const now = Date.now();
    const pending = runs.nextPending()?.created_at ?? null;
    const due = [
      runs.running() === null ? null : now + HEARTBEAT_MS,
      pending === null ? null : Math.max(pending, now),
      this.#index.isDirty() ? now + INDEX_RETRY_MS : null,
      runs.nextExpiry(),
    ].filter((at) => at !== null);
    if (due.length === 0) return;
    const next = Math.min(...due);
    if (this.#alarmAt !== null && this.#alarmAt <= next) return;
    this.#alarmAt = next;
    void this.ctx.storage.setAlarm(next);
  }

  #timeOut(): void {
    const execution = this.#queue.execution;
    if (execution === null) return;
    const limitMs = Number(this.env.RUN_TIMEOUT_SECONDS) * 1000;
    const startedAt = execution.run.started_at ?? Date.now();
    if (Date.now() - startedAt > limitMs) void this.#queue.cancel(execution.run, "timeout");
  }

  /** A temporary thread goes when its run has ended and nobody reads it any more. */
  #deleteIfDone(): void {
    const thread = this.#storageRow();
    if (thread === null || thread.temporary === 0) return;
    const [run] = this.#storage.runs.list({ limit: 1, offset: 0, status: null });
    if (run !== undefined) {
      const promised = run.resumable === 1 && (run.expires_at ?? 0) > Date.now();
      if (isInFlight(run) || promised || this.#streams.hasReaders(run.seq)) return;
    }
    void this.#erase();
  }

  async #finishRemoval(): Promise<void> {
    await this.#index.remove();
    await this.#erase();
  }

  async #erase(): Promise<void> {
    this.#exists = false;
    this.#alarmAt = null;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  #cancelLater(runId: string): void {
    void this.cancelRun(runId, { action: "interrupt", wait: false });
  }

  #findRun(runId: string): Result<RunRow, "thread_not_found" | "run_not_found"> {
    if (this.#wake() === null) return { ok: false, code: "thread_not_found" };
    const run = this.#storage.runs.get(runId);
    return run === null ? { ok: false, code: "run_not_found" } : { ok: true, value: run };
  }

  #hasEnded(runSeq: number): boolean {
    if (!this.#exists) return true;
    const run = this.#storage.runs.bySeq(runSeq);
    return run === null || !isInFlight(run);
  }

  #resultBySeq(runSeq: number): string | null {
    const run = this.#exists ? this.#storage.runs.bySeq(runSeq) : null;
    return run === null ? null : this.#queue.result(run);
  }

  /** A result past its retention: read again from the run's last checkpoint. */
  async #oldResult(run: RunRow): Promise<string> {
    if (run.error !== null) return `{"__error__":${run.error}}`;
    const thread = this.#storage.thread.get();
    const checkpointId = this.#storage.checkpoints.lastOfRun(run.run_id);
    if (checkpointId === null) return this.#storage.thread.values() ?? "{}";
    const state = await this.#host().getState(
      {
        ...this.#graphRef(thread, run.graph_id),
        checkpoint: { checkpoint_id: checkpointId, checkpoint_ns: "" },
        subgraphs: false,
      },
      new ReadPort(this.#storage.checkpoints),
    );
    return state.ok ? JSON.stringify(JSON.parse(state.value).values) : "{}";
  }

  #graphRef(
    thread: ThreadRow,
    graphId: string,
  ): { graph_id: string; config: RunConfig; thread_id: string } {
    const config: Partial<RunConfig> = JSON.parse(thread.config);
    return {
      graph_id: graphId,
      thread_id: thread.thread_id,
      config: { ...config, configurable: config.configurable ?? {}, metadata: config.metadata ?? {} },
    };
  }

  #scope(): Scope {
    const { workspace_id, deployment_id } = this.#storage.thread.get();
    return { workspaceId: workspace_id, deploymentId: deployment_id };
  }

  #host(): GraphHostApi {
    return graphHost(this.ctx);
  }

  #thread(row: ThreadRow): Thread {
    return toThread(row, this.#storage.thread.values());
  }

  #run(run: RunRow, threadId: string): Run {
    return toRun(run, threadId, this.#queue.kwargs(run));
  }
}

/** What the state endpoint answers for a thread that has never run. */
const EMPTY_STATE = JSON.stringify({
  values: {},
  next: [],
  tasks: [],
  interrupts: [],
  metadata: null,
  created_at: null,
  checkpoint: null,
  parent_checkpoint: null,
});

function isInFlight(run: RunRow): boolean {
  return run.status === "pending" || run.status === "running";
}

/** `messages-tuple` and legacy `messages` share the name; control events always pass. */
function isOfModes(event: string, modes: readonly string[]): boolean {
  const name = event.split(/[|/]/, 1)[0] ?? event;
  if (name === "metadata" || name === "error") return true;
  return modes.includes(name) || (name === "messages" && modes.includes("messages-tuple"));
}

function textStream(text: string): ReadableStream<Uint8Array> {
  return new Response(text).body ?? new ReadableStream();
}
