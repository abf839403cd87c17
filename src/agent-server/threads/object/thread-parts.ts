import type { GraphHostApi } from "../../../graph-runtime/protocol.ts";
import { isTickNoted } from "../../../db/crons-repo.ts";
import { graphHost } from "../../graph-host.ts";
import { storeOf } from "../../store/store-object.ts";
import { parseSettings } from "../../../env.ts";
import type { Scope } from "../../../lib/scope.ts";
import { storageMeter } from "../../../deployment-log/usage-meter.ts";
import { IndexOutbox } from "../index/index-outbox.ts";
import { RunQueue } from "../runs/run-queue.ts";
import { RunStreams } from "../runs/run-streams.ts";
import { ThreadStream } from "../runs/thread-stream.ts";
import type { RunRow } from "../storage/run-row.ts";
import { ThreadCreation } from "./thread-creation.ts";
import { RunStarts } from "./run-starts.ts";
import { ThreadProtocol } from "./thread-protocol.ts";
import { ThreadRuns } from "./thread-runs.ts";
import { ThreadRemoval } from "./thread-removal.ts";
import { ThreadRetention } from "./thread-retention.ts";
import { type ThreadTraces, threadTraces } from "../traces/thread-traces.ts";
import { threadWebhooks } from "../webhooks/thread-webhooks.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";
import { ThreadAlarm } from "./thread-alarm.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import { ThreadStates } from "../runs/thread-states.ts";
import { ThreadStorage } from "../storage/thread-storage.ts";
import type { CommandPort } from "../protocol/commands.ts";
import { threadLog } from "../protocol/thread-log.ts";
import type { Visibility } from "../../../lib/metadata-filter.ts";
import { isVisible } from "../contract/thread-requests.ts";

/**
 * Creates the parts of a thread and connects them: how the thread is woken, and how its index row and its alarm
 * follow each change.
 */
export class ThreadParts {
  readonly storage: ThreadStorage;
  readonly #streams: RunStreams;
  readonly following: ThreadStream;
  readonly states: ThreadStates;
  readonly queue: RunQueue;
  readonly runs: ThreadRuns;
  readonly starts: RunStarts;
  readonly protocol: ThreadProtocol;
  readonly index: IndexOutbox;
  readonly traces: ThreadTraces | null;
  readonly webhooks: WebhookOutbox;
  readonly alarm: ThreadAlarm;
  readonly removal: ThreadRemoval;
  readonly creation: ThreadCreation;
  readonly retention: ThreadRetention;
  readonly runTimeoutMs: number;
  #woken = false;

  constructor(ctx: DurableObjectState, env: Env) {
    const settings = parseSettings(env);
    this.runTimeoutMs = settings.runTimeoutMs;
    const storage = new ThreadStorage(ctx.storage);
    this.storage = storage;
    this.#streams = new RunStreams(storage.log, {
      hasEnded: (seq) => !storage.exists || this.queue.hasEnded(seq),
      resultOf: (seq) => this.queue.endings.result(seq),
      onLeave: (seq) => {
        if (!this.#streams.hasReaders(seq)) this.queue.endings.forgetResult(seq);
        this.removal.removeIfDone();
      },
      thread: {
        isReading: () => this.following.isFollowed() || this.protocol.isReading(),
        holds: (run) => this.following.holds(run),
        begin: (run) => this.following.begin(run),
        wake: () => {
          this.following.logChanged();
          this.protocol.wake();
        },
      },
    });
    this.following = new ThreadStream({
      storage,
      streams: this.#streams,
      now: () => Date.now(),
      retentionMs: settings.resumableStreamTtlMs,
    });
    this.index = new IndexOutbox(env, storage);
    this.traces = threadTraces(env, {
      storage,
      scope: () => this.scope(),
      waitUntil: (promise) => ctx.waitUntil(promise),
      onRootEnd: () => this.removal.removeIfDone(),
    });
    const traceEnds = this.traces?.ends ?? null;
    this.webhooks = threadWebhooks(env, {
      storage,
      scope: () => this.scope(),
      ctx,
      waitUntil: (promise) => ctx.waitUntil(promise),
      onAttempt: () => {
        this.scheduleAlarm();
        this.removal.removeIfDone();
      },
    });
    this.alarm = new ThreadAlarm(
      ctx.storage,
      storage,
      this.index,
      traceEnds,
      this.webhooks,
      this.following,
    );
    const host = (revisionId: string | null): GraphHostApi =>
      graphHost(env, ctx, { scope: this.scope(), revisionId });
    const countUse = storageMeter(env, ctx, () => this.scope());
    this.states = new ThreadStates(storage, {
      host,
      countUse,
      onUpdate: (checkpoint, snapshot) => this.following.update(checkpoint, snapshot),
    });
    this.queue = new RunQueue({
      storage,
      streams: this.#streams,
      states: this.states,
      host,
      store: (operations) => storeOf(env, this.scope()).execute(operations),
      countUse,
      traces: this.traces,
      webhooks: this.webhooks,
      now: () => Date.now(),
      retentionMs: settings.resumableStreamTtlMs,
      onChange: (run) => this.#changed(run),
      indexed: () => this.drainIndex(),
      onTemporaryEnd: () => this.removal.removeIfDone(),
    });
    this.runs = new ThreadRuns({
      storage,
      queue: this.queue,
      streams: this.#streams,
      states: this.states,
      wake: (filter) => this.wake(filter),
      onChange: (run) => this.#changed(run),
      indexed: () => this.drainIndex(),
    });
    this.starts = new RunStarts({
      storage,
      runs: this.runs,
      wake: (filter) => this.wake(filter),
    });
    this.protocol = new ThreadProtocol({
      ctx,
      storage,
      log: threadLog(storage, {
        hasEnded: (seq) => this.queue.hasEnded(seq),
        shownBefore: (seq) => this.#streams.firstHeld(seq),
      }),
      starts: this.starts,
      commands: (): CommandPort => ctx.exports.ThreadCommands({}),
      wake: (filter) => this.wake(filter),
    });
    this.removal = new ThreadRemoval({
      storage,
      queue: this.queue,
      streams: this.#streams,
      protocol: this.protocol,
      index: this.index,
      traceEnds,
      webhooks: this.webhooks,
      alarm: this.alarm,
      isNoted: (tick) => isTickNoted(env.DB, this.scope(), tick),
    });
    this.creation = new ThreadCreation({
      storage,
      states: this.states,
      removal: this.removal,
      alarm: this.alarm,
      wake: (filter) => this.wake(filter),
      indexed: () => this.drainIndex(),
    });
    this.retention = new ThreadRetention({
      storage,
      states: this.states,
      removal: this.removal,
    });
  }

  /**
   * Must be called by every entry point: after a crash it finds the interrupted run. Returns the thread if it is
   * visible.
   */
  wake(filter: Visibility): ThreadRow | null {
    const thread = this.storageRow();
    if (thread === null || thread.deleted === 1) return null;
    this.queue.pump();
    // Changes that were not confirmed before the object was last stopped may be missing in the index.
    if (!this.#woken) this.index.drainSoon(() => this.scheduleAlarm());
    this.#woken = true;
    return isVisible(thread, filter) ? thread : null;
  }

  storageRow(): ThreadRow | null {
    return this.storage.exists ? this.storage.thread.find() : null;
  }

  /**
   * Sets the alarm in the turn that made the change, and so in its transaction, because a run's creator learns the
   * run's id from the response headers at once, even if it waits for the result. Only the index may be written
   * later. The delay is longest for an awaited run that is alone on its thread, because its end writes the index
   * anyway.
   */
  #changed(run: RunRow): void {
    if (!this.storage.exists) return;
    this.scheduleAlarm();
    const inFlight = this.storage.runs.inFlight();
    const alone = inFlight.every(({ seq }) => seq === run.seq);
    if (alone && this.#streams.isAwaited(run.seq)) {
      this.index.drainLater(() => this.scheduleAlarm());
    } else {
      this.index.drainSoon(() => this.scheduleAlarm());
    }
  }

  /** Waits for the index. No alarm is needed until then, because the caller has had no answer yet. */
  async drainIndex(): Promise<void> {
    await this.index.drain();
    this.scheduleAlarm();
  }

  scheduleAlarm(): void {
    if (this.storage.exists) this.alarm.schedule(Date.now());
  }

  scope(): Scope {
    const { workspace_id, deployment_id } = this.storage.thread.get();
    return { workspaceId: workspace_id, deploymentId: deployment_id };
  }
}
