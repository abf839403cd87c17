import { DurableObject } from "cloudflare:workers";
import type { GraphHostApi } from "../../../graph-runtime/protocol.ts";
import { isTickNoted } from "../../../db/crons-repo.ts";
import { isInService } from "../../deployment-name.ts";
import { graphHost } from "../../graph-host.ts";
import { storeOf } from "../../store/store-object.ts";
import { parseSettings } from "../../../env.ts";
import type { JsonText } from "../../../lib/json-answer.ts";
import type { Scope } from "../../../lib/scope.ts";
import { storageMeter } from "../../../deployment-log/usage-meter.ts";
import type { CancelAction } from "../runs/execution.ts";
import type { Result } from "../contract/failures.ts";
import { IndexOutbox } from "../index/index-outbox.ts";
import { RunQueue } from "../runs/run-queue.ts";
import type { CreateRunRequest } from "../contract/run-request.ts";
import { RunStreams } from "../runs/run-streams.ts";
import { ThreadStream } from "../runs/thread-stream.ts";
import type { RunRow, RunSelection } from "../storage/run-row.ts";
import { readCopy } from "./thread-copy.ts";
import { ThreadCreation } from "./thread-creation.ts";
import { RunStarts } from "./run-starts.ts";
import { type OpenedEvents, ThreadProtocol } from "./thread-protocol.ts";
import {
  type CancelOptions,
  type FollowedRun,
  type JoinOptions,
  ThreadRuns,
} from "./thread-runs.ts";
import { ThreadRemoval } from "./thread-removal.ts";
import { ThreadRetention } from "./thread-retention.ts";
import { type ThreadTraces, threadTraces } from "../traces/thread-traces.ts";
import { threadWebhooks } from "../webhooks/thread-webhooks.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";
import { ThreadAlarm } from "./thread-alarm.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import { type HistoryQuery, type StateQuery, ThreadStates } from "../runs/thread-states.ts";
import type {
  CopyThreadResult,
  CreateRunResult,
  CreateThreadRequest,
  CreateThreadResult,
  EventsQuery,
  PatchThreadRequest,
  PruneResult,
  ReadStateResult,
  RunsQuery,
  StreamThreadResult,
  ThreadStreamQuery,
  UpdateStateRequest,
  UpdateStateResult,
} from "../contract/thread-requests.ts";
import { ThreadStorage } from "../storage/thread-storage.ts";
import type { StartRunRequest, StartRunResult, ThreadView } from "../contract/thread-commands.ts";
import type { AgentTreeNode } from "../protocol/agent-tree.ts";
import type { CommandPort } from "../protocol/commands.ts";
import type { EventFilter } from "../protocol/event-filter.ts";
import { threadLog } from "../protocol/thread-log.ts";
import { ALL_THREADS, isVisible, type Visibility } from "../contract/thread-requests.ts";
import { type Run, type Thread, toThreadJson, toTtlJson } from "../contract/thread-json.ts";
import type { ThreadTtl } from "../storage/thread-ttl.ts";

/**
 * One thread: its runs, its checkpoints, its event log, and nobody else's. The object's single thread
 * of execution is what makes runs of a thread execute one at a time.
 *
 * Alarm: one for whatever is due next: the heartbeat of a run in flight, a delayed run, an index row
 * still to be written, the end of a trace that is still to be recorded, a webhook that is still to be
 * delivered, events and results whose retention ends, the end of the thread's own time.
 * An object opened for an id that does not exist stores nothing. Each call says first what its caller may see: a
 * thread that does not match is answered like one that does not exist.
 */
export class ThreadObject extends DurableObject<Env> {
  readonly #storage: ThreadStorage;
  readonly #streams: RunStreams;
  readonly #following: ThreadStream;
  readonly #states: ThreadStates;
  readonly #queue: RunQueue;
  readonly #runs: ThreadRuns;
  readonly #starts: RunStarts;
  readonly #protocol: ThreadProtocol;
  readonly #index: IndexOutbox;
  readonly #traces: ThreadTraces | null;
  readonly #webhooks: WebhookOutbox;
  readonly #alarm: ThreadAlarm;
  readonly #removal: ThreadRemoval;
  readonly #creation: ThreadCreation;
  readonly #retention: ThreadRetention;
  readonly #runTimeoutMs: number;
  #woken = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const settings = parseSettings(env);
    this.#runTimeoutMs = settings.runTimeoutMs;
    const storage = new ThreadStorage(ctx.storage);
    this.#storage = storage;
    this.#streams = new RunStreams(storage.log, {
      hasEnded: (seq) => !storage.exists || this.#queue.hasEnded(seq),
      resultOf: (seq) => this.#queue.endings.result(seq),
      onLeave: (seq) => {
        if (!this.#streams.hasReaders(seq)) this.#queue.endings.forgetResult(seq);
        this.#removal.removeIfDone();
      },
      thread: {
        isReading: () => this.#following.isFollowed() || this.#protocol.isReading(),
        holds: (run) => this.#following.holds(run),
        begin: (run) => this.#following.begin(run),
        wake: () => {
          this.#following.logChanged();
          this.#protocol.wake();
        },
      },
    });
    this.#following = new ThreadStream({
      storage,
      streams: this.#streams,
      now: () => Date.now(),
      retentionMs: settings.resumableStreamTtlMs,
    });
    this.#index = new IndexOutbox(env, storage);
    this.#traces = threadTraces(env, {
      storage,
      scope: () => this.#scope(),
      waitUntil: (promise) => ctx.waitUntil(promise),
      onRootEnd: () => this.#removal.removeIfDone(),
    });
    const traceEnds = this.#traces?.ends ?? null;
    this.#webhooks = threadWebhooks(env, {
      storage,
      scope: () => this.#scope(),
      ctx,
      waitUntil: (promise) => ctx.waitUntil(promise),
      onAttempt: () => {
        this.#scheduleAlarm();
        this.#removal.removeIfDone();
      },
    });
    this.#alarm = new ThreadAlarm(
      ctx.storage,
      storage,
      this.#index,
      traceEnds,
      this.#webhooks,
      this.#following,
    );
    const host = (revisionId: string | null): GraphHostApi =>
      graphHost(env, ctx, { scope: this.#scope(), revisionId });
    const countUse = storageMeter(env, ctx, () => this.#scope());
    this.#states = new ThreadStates(storage, {
      host,
      countUse,
      onUpdate: (checkpoint, snapshot) => this.#following.update(checkpoint, snapshot),
    });
    this.#queue = new RunQueue({
      storage,
      streams: this.#streams,
      states: this.#states,
      host,
      store: (operations) => storeOf(env, this.#scope()).execute(operations),
      countUse,
      traces: this.#traces,
      webhooks: this.#webhooks,
      now: () => Date.now(),
      retentionMs: settings.resumableStreamTtlMs,
      onChange: (run) => this.#changed(run),
      indexed: () => this.#drainIndex(),
      onTemporaryEnd: () => this.#removal.removeIfDone(),
    });
    this.#runs = new ThreadRuns({
      storage,
      queue: this.#queue,
      streams: this.#streams,
      states: this.#states,
      wake: (filter) => this.#wake(filter),
      onChange: (run) => this.#changed(run),
      indexed: () => this.#drainIndex(),
    });
    this.#starts = new RunStarts({
      storage,
      runs: this.#runs,
      wake: (filter) => this.#wake(filter),
    });
    this.#protocol = new ThreadProtocol({
      ctx,
      storage,
      log: threadLog(storage, {
        hasEnded: (seq) => this.#queue.hasEnded(seq),
        shownBefore: (seq) => this.#streams.firstHeld(seq),
      }),
      starts: this.#starts,
      commands: (): CommandPort => ctx.exports.ThreadCommands({}),
      wake: (filter) => this.#wake(filter),
    });
    this.#removal = new ThreadRemoval({
      storage,
      queue: this.#queue,
      streams: this.#streams,
      protocol: this.#protocol,
      index: this.#index,
      traceEnds,
      webhooks: this.#webhooks,
      alarm: this.#alarm,
      isNoted: (tick) => isTickNoted(env.DB, this.#scope(), tick),
    });
    this.#creation = new ThreadCreation({
      storage,
      states: this.#states,
      removal: this.#removal,
      alarm: this.#alarm,
      wake: (filter) => this.#wake(filter),
      indexed: () => this.#drainIndex(),
    });
    this.#retention = new ThreadRetention({
      storage,
      states: this.#states,
      removal: this.#removal,
    });
  }

  async create(filter: Visibility, request: CreateThreadRequest): Promise<CreateThreadResult> {
    return this.#creation.create(filter, request);
  }

  async get(filter: Visibility, { ttl = false } = {}): Promise<Thread | null> {
    const row = this.#wake(filter);
    if (row === null) return null;
    return ttl ? { ...this.#thread(row), ttl: toTtlJson(row) } : this.#thread(row);
  }

  async copy(filter: Visibility): Promise<CopyThreadResult> {
    if (this.#wake(filter) === null) return { ok: false, code: "thread_not_found" };
    return readCopy(this.#storage);
  }

  async patch(filter: Visibility, { metadata, ttl }: PatchThreadRequest): Promise<Thread | null> {
    if (this.#wake(filter) === null) return null;
    const now = Date.now();
    this.#storage.transaction(() => {
      this.#storage.thread.mergeMetadata(metadata, now);
      if (ttl !== null) this.#storage.thread.setTtl(ttl, now);
    });
    if (ttl !== null) this.#scheduleAlarm();
    await this.#drainIndex();
    return this.#thread(this.#storage.thread.get());
  }

  /** False when there is no such thread. */
  async remove(filter: Visibility): Promise<boolean> {
    if (this.#wake(filter) === null) return false;
    await this.#removal.removeNow();
    return true;
  }

  async prune(filter: Visibility, strategy: ThreadTtl["strategy"]): Promise<PruneResult> {
    return this.#wake(filter) === null ? "missing" : this.#retention.prune(strategy);
  }

  async createRun(filter: Visibility, request: CreateRunRequest): Promise<CreateRunResult> {
    if (request.create_thread) await this.#creation.settled();
    return this.#runs.create(filter, request);
  }

  /** JSON text of a list of runs, with these fields of each; null when there is no such thread. */
  async listRuns(filter: Visibility, query: RunsQuery): Promise<JsonText | null> {
    return this.#runs.list(filter, query);
  }

  async getRun(filter: Visibility, runId: string): Promise<Run | null> {
    return this.#runs.get(filter, runId);
  }

  async deleteRun(filter: Visibility, runId: string): Promise<boolean> {
    return this.#runs.remove(filter, runId);
  }

  async cancelRun(
    filter: Visibility,
    runId: string,
    options: CancelOptions,
  ): Promise<Result<null, "run_not_found">> {
    return this.#runs.cancel(filter, runId, options);
  }

  async cancelRuns(
    filter: Visibility,
    selection: RunSelection,
    action: CancelAction,
  ): Promise<number> {
    return this.#runs.cancelAll(filter, selection, action);
  }

  async joinRun(filter: Visibility, runId: string, options: JoinOptions): Promise<FollowedRun> {
    return this.#runs.join(filter, runId, options);
  }

  async streamRun(filter: Visibility, runId: string, query: EventsQuery): Promise<FollowedRun> {
    return this.#runs.stream(filter, runId, query);
  }

  /** Events of all runs, the present one and those that come, until the reader leaves. */
  async streamThread(filter: Visibility, query: ThreadStreamQuery): Promise<StreamThreadResult> {
    const thread = this.#wake(filter);
    // That of a stateless run goes with it.
    if (thread === null || thread.temporary === 1) return { ok: false, code: "thread_not_found" };
    const stream = this.#following.open(query);
    this.#scheduleAlarm();
    return { ok: true, value: stream };
  }

  async getState(filter: Visibility, query: StateQuery): Promise<ReadStateResult> {
    const thread = this.#wake(filter);
    return thread === null
      ? { ok: false, code: "thread_not_found" }
      : this.#states.get(thread, query);
  }

  async getHistory(filter: Visibility, query: HistoryQuery): Promise<ReadStateResult> {
    const thread = this.#wake(filter);
    return thread === null
      ? { ok: false, code: "thread_not_found" }
      : this.#states.history(thread, query);
  }

  async updateState(filter: Visibility, request: UpdateStateRequest): Promise<UpdateStateResult> {
    const thread = this.#wake(filter);
    if (thread === null) return { ok: false, code: "thread_not_found" };
    if (this.#storage.runs.inFlight().length > 0) return { ok: false, code: "thread_busy" };
    const updated = await this.#states.update(thread, request);
    if (updated.ok) await this.#drainIndex();
    return updated;
  }

  async startRun(filter: Visibility, request: StartRunRequest): Promise<StartRunResult> {
    return this.#starts.start(filter, request);
  }

  /** What commands have to know of the thread; null when there is no such thread. */
  async view(filter: Visibility): Promise<ThreadView | null> {
    return this.#starts.view(filter);
  }

  async agentTree(filter: Visibility, runId: string | null): Promise<AgentTreeNode | null> {
    return this.#protocol.tree(filter, runId);
  }

  /** Server-sent events of all runs of the thread, after the number `since`. */
  async streamEvents(
    filter: Visibility,
    wanted: EventFilter,
    since: number,
  ): Promise<OpenedEvents> {
    return this.#protocol.open(filter, wanted, since);
  }

  /** The upgrade of a connection, which is the one thing that cannot be asked by RPC. */
  override async fetch(request: Request): Promise<Response> {
    return this.#protocol.connect(request);
  }

  override async webSocketMessage(socket: WebSocket, text: string | ArrayBuffer): Promise<void> {
    this.#wake(ALL_THREADS);
    await this.#protocol.message(socket, text);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#protocol.closed(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#protocol.closed(socket);
  }

  override async alarm(): Promise<void> {
    this.#alarm.forget();
    const inService = !this.#storage.exists || (await isInService(this.env.DB, this.#scope()));
    const thread = this.#storageRow();
    if (thread === null) return;
    if (this.#creation.isMaking) {
      this.#scheduleAlarm();
      return;
    }
    if (thread.deleted === 1 && thread.temporary === 0) {
      await this.#removal.finish();
      return;
    }
    if (!inService) {
      await this.#removal.removeNow();
      return;
    }
    this.#queue.pump();
    this.#queue.timeOut(this.#runTimeoutMs);
    this.#storage.transaction(() => {
      this.#queue.endings.expire();
      this.#following.expire();
      this.#index.recordConfirmed();
      this.#traces?.ends.forgetTold();
    });
    await this.#traces?.ends.deliver("due");
    this.#removal.removeIfDone();
    if (this.#storage.exists) await this.#retention.expire(Date.now());
    if (!this.#storage.exists) return;
    this.#webhooks.deliver();
    this.#scheduleAlarm();
    await this.#drainIndex();
  }

  /** Every entry comes through here: after a crash it is what finds the interrupted run. */
  #wake(filter: Visibility): ThreadRow | null {
    const thread = this.#storageRow();
    if (thread === null || thread.deleted === 1) return null;
    this.#queue.pump();
    // What was not confirmed before the object was last stopped may not have reached the index.
    if (!this.#woken) this.#index.drainSoon(() => this.#scheduleAlarm());
    this.#woken = true;
    return isVisible(thread, filter) ? thread : null;
  }

  #storageRow(): ThreadRow | null {
    return this.#storage.exists ? this.#storage.thread.find() : null;
  }

  /**
   * The alarm is set in the turn that made the change, so in its transaction: a run's creator knows its
   * id from the headers at once, also when it waits for the result. Only the index may follow later, and
   * latest for such a run alone on its thread, whose end writes it anyway.
   */
  #changed(run: RunRow): void {
    if (!this.#storage.exists) return;
    this.#scheduleAlarm();
    const inFlight = this.#storage.runs.inFlight();
    const alone = inFlight.every(({ seq }) => seq === run.seq);
    if (alone && this.#streams.isAwaited(run.seq)) {
      this.#index.drainLater(() => this.#scheduleAlarm());
    } else {
      this.#index.drainSoon(() => this.#scheduleAlarm());
    }
  }

  /** Until it is done no alarm is needed: whoever asked has had no answer yet. */
  async #drainIndex(): Promise<void> {
    await this.#index.drain();
    this.#scheduleAlarm();
  }

  #scheduleAlarm(): void {
    if (this.#storage.exists) this.#alarm.schedule(Date.now());
  }

  #scope(): Scope {
    const { workspace_id, deployment_id } = this.#storage.thread.get();
    return { workspaceId: workspace_id, deploymentId: deployment_id };
  }

  #thread(row: ThreadRow): Thread {
    return toThreadJson(row, this.#storage.thread.values());
  }
}
