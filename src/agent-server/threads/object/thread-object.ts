import { DurableObject } from "cloudflare:workers";
import { ThreadParts } from "./thread-parts.ts";
import { isInService } from "../../deployment-name.ts";
import type { JsonText } from "../../../lib/json-answer.ts";
import type { CancelAction } from "../runs/execution.ts";
import type { Result } from "../contract/failures.ts";
import type { CreateRunRequest } from "../contract/run-request.ts";
import type { ThreadRunSelection } from "../storage/run-row.ts";
import { readCopy } from "./thread-copy.ts";
import type { OpenedEvents } from "./thread-protocol.ts";
import type { CancelOptions, FollowedRun, JoinOptions } from "./thread-runs.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import type { HistoryQuery, StateQuery } from "../runs/thread-states.ts";
import type {
  CopyThreadResult,
  CreateRunResult,
  CreateThreadRequest,
  CreateThreadResult,
  EventsQuery,
  PatchThreadRequest,
  PruneResult,
  ReadStateResult,
  RunListQuery,
  StreamThreadResult,
  ThreadStreamQuery,
  UpdateStateRequest,
  UpdateStateResult,
} from "../contract/thread-requests.ts";
import type { StartRunRequest, StartRunResult, ThreadView } from "../contract/thread-commands.ts";
import type { AgentTreeNode } from "../../../graph-runtime/stream-protocol/agent-tree.ts";
import type { EventFilter } from "../protocol/event-filter.ts";
import type { Visibility } from "../../../lib/metadata-filter.ts";
import { ALL_THREADS } from "../contract/thread-requests.ts";
import { type Run, type Thread, toThreadJson, toTtlJson } from "../contract/thread-json.ts";
import type { ThreadTtl } from "../storage/thread-ttl.ts";

/**
 * One thread: its runs, its checkpoints and its event log. Because the object is single-threaded, the runs of a
 * thread execute one at a time.
 *
 * The alarm is set for whatever is due next: the heartbeat of a run in flight, a delayed run, an index row or the
 * end of a trace that is still to be written, a webhook that is still to be delivered, events and results whose
 * retention ends, or the expiry of the thread itself.
 *
 * An object that is opened for an id that does not exist stores nothing. The first argument of each method is what
 * its caller may see: a thread that does not match is treated as if it did not exist.
 */
export class ThreadObject extends DurableObject<Env> {
  readonly #parts: ThreadParts;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#parts = new ThreadParts(ctx, env);
  }

  async create(filter: Visibility, request: CreateThreadRequest): Promise<CreateThreadResult> {
    return this.#parts.creation.create(filter, request);
  }

  async get(filter: Visibility, { ttl = false } = {}): Promise<Thread | null> {
    const row = this.#parts.wake(filter);
    if (row === null) return null;
    return ttl ? { ...this.#thread(row), ttl: toTtlJson(row) } : this.#thread(row);
  }

  async copy(filter: Visibility): Promise<CopyThreadResult> {
    if (this.#parts.wake(filter) === null) return { ok: false, code: "thread_not_found" };
    return readCopy(this.#parts.storage);
  }

  async patch(filter: Visibility, { metadata, ttl }: PatchThreadRequest): Promise<Thread | null> {
    if (this.#parts.wake(filter) === null) return null;
    const now = Date.now();
    this.#parts.storage.transaction(() => {
      this.#parts.storage.thread.mergeMetadata(metadata, now);
      if (ttl !== null) this.#parts.storage.thread.setTtl(ttl, now);
    });
    if (ttl !== null) this.#parts.scheduleAlarm();
    await this.#parts.drainIndex();
    return this.#thread(this.#parts.storage.thread.get());
  }

  /** Removes the thread. Returns false if it does not exist. */
  async remove(filter: Visibility): Promise<boolean> {
    if (this.#parts.wake(filter) === null) return false;
    await this.#parts.removal.removeNow();
    return true;
  }

  async prune(filter: Visibility, strategy: ThreadTtl["strategy"]): Promise<PruneResult> {
    return this.#parts.wake(filter) === null ? "missing" : this.#parts.retention.prune(strategy);
  }

  async createRun(filter: Visibility, request: CreateRunRequest): Promise<CreateRunResult> {
    if (request.create_thread) await this.#parts.creation.settled();
    return this.#parts.runs.create(filter, request);
  }

  /** Returns a list of runs as JSON text, with the requested fields of each; null if the thread does not exist. */
  async listRuns(filter: Visibility, query: RunListQuery): Promise<JsonText | null> {
    return this.#parts.runs.list(filter, query);
  }

  async getRun(filter: Visibility, runId: string): Promise<Run | null> {
    return this.#parts.runs.get(filter, runId);
  }

  async deleteRun(filter: Visibility, runId: string): Promise<boolean> {
    return this.#parts.runs.remove(filter, runId);
  }

  async cancelRun(
    filter: Visibility,
    runId: string,
    options: CancelOptions,
  ): Promise<Result<null, "run_not_found">> {
    return this.#parts.runs.cancel(filter, runId, options);
  }

  async cancelRuns(
    filter: Visibility,
    selection: ThreadRunSelection,
    action: CancelAction,
  ): Promise<number> {
    return this.#parts.runs.cancelAll(filter, selection, action);
  }

  async joinRun(filter: Visibility, runId: string, options: JoinOptions): Promise<FollowedRun> {
    return this.#parts.runs.join(filter, runId, options);
  }

  async streamRun(filter: Visibility, runId: string, query: EventsQuery): Promise<FollowedRun> {
    return this.#parts.runs.stream(filter, runId, query);
  }

  /** Streams the events of all runs, the current one and future ones, until the reader disconnects. */
  async streamThread(filter: Visibility, query: ThreadStreamQuery): Promise<StreamThreadResult> {
    const thread = this.#parts.wake(filter);
    // The thread of a stateless run is removed with the run.
    if (thread === null || thread.temporary === 1) return { ok: false, code: "thread_not_found" };
    const stream = this.#parts.following.open(query);
    this.#parts.scheduleAlarm();
    return { ok: true, value: stream };
  }

  async getState(filter: Visibility, query: StateQuery): Promise<ReadStateResult> {
    const thread = this.#parts.wake(filter);
    return thread === null
      ? { ok: false, code: "thread_not_found" }
      : this.#parts.states.get(thread, query);
  }

  async getHistory(filter: Visibility, query: HistoryQuery): Promise<ReadStateResult> {
    const thread = this.#parts.wake(filter);
    return thread === null
      ? { ok: false, code: "thread_not_found" }
      : this.#parts.states.history(thread, query);
  }

  async updateState(filter: Visibility, request: UpdateStateRequest): Promise<UpdateStateResult> {
    const thread = this.#parts.wake(filter);
    if (thread === null) return { ok: false, code: "thread_not_found" };
    if (this.#parts.storage.runs.inFlight().length > 0) return { ok: false, code: "thread_busy" };
    const updated = await this.#parts.states.update(thread, request);
    if (updated.ok) await this.#parts.drainIndex();
    return updated;
  }

  async startRun(filter: Visibility, request: StartRunRequest): Promise<StartRunResult> {
    return this.#parts.starts.start(filter, request);
  }

  /** Returns what commands need to know about the thread; null if it does not exist. */
  async view(filter: Visibility): Promise<ThreadView | null> {
    return this.#parts.starts.view(filter);
  }

  async agentTree(filter: Visibility, runId: string | null): Promise<AgentTreeNode | null> {
    return this.#parts.protocol.tree(filter, runId);
  }

  /** Streams the server-sent events of all runs of the thread, after the number `since`. */
  async streamEvents(
    filter: Visibility,
    wanted: EventFilter,
    since: number,
  ): Promise<OpenedEvents> {
    return this.#parts.protocol.open(filter, wanted, since);
  }

  /** Handles the upgrade of a connection, which is the only request that RPC cannot express. */
  override async fetch(request: Request): Promise<Response> {
    return this.#parts.protocol.connect(request);
  }

  override async webSocketMessage(socket: WebSocket, text: string | ArrayBuffer): Promise<void> {
    this.#parts.wake(ALL_THREADS);
    await this.#parts.protocol.message(socket, text);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#parts.protocol.closed(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#parts.protocol.closed(socket);
  }

  override async alarm(): Promise<void> {
    this.#parts.alarm.forget();
    const inService =
      !this.#parts.storage.exists || (await isInService(this.env.DB, this.#parts.scope()));
    const thread = this.#parts.storageRow();
    if (thread === null) return;
    if (this.#parts.creation.isMaking) {
      this.#parts.scheduleAlarm();
      return;
    }
    if (thread.deleted === 1 && thread.temporary === 0) {
      await this.#parts.removal.finish();
      return;
    }
    if (!inService) {
      await this.#parts.removal.removeNow();
      return;
    }
    this.#parts.queue.pump();
    this.#parts.queue.timeOut(this.#parts.runTimeoutMs);
    this.#parts.storage.transaction(() => {
      this.#parts.queue.endings.expire();
      this.#parts.following.expire();
      this.#parts.index.recordConfirmed();
      this.#parts.traces?.ends.forgetTold();
    });
    await this.#parts.traces?.ends.deliver("due");
    this.#parts.removal.removeIfDone();
    if (this.#parts.storage.exists) await this.#parts.retention.expire(Date.now());
    if (!this.#parts.storage.exists) return;
    this.#parts.webhooks.deliver();
    this.#parts.scheduleAlarm();
    await this.#parts.drainIndex();
  }

  #thread(row: ThreadRow): Thread {
    return toThreadJson(row, this.#parts.storage.thread.values());
  }
}
