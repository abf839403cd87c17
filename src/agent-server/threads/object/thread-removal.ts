import type { CronTick } from "../../../lib/cron-tick.ts";
import { forgetTick, tickOf } from "../storage/cron-tick.ts";
import type { IndexOutbox } from "../index/index-outbox.ts";
import type { RunQueue } from "../runs/run-queue.ts";
import { isInFlight } from "../storage/run-row.ts";
import type { RunStreams } from "../runs/run-streams.ts";
import type { ThreadAlarm } from "./thread-alarm.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { TraceEnds } from "../traces/trace-ends.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";

type ThreadRemovalDeps = {
  storage: ThreadStorage;
  queue: RunQueue;
  streams: RunStreams;
  protocol: { endAll: () => void };
  index: IndexOutbox;
  traceEnds: TraceEnds | null;
  webhooks: WebhookOutbox;
  alarm: ThreadAlarm;
  /** Returns whether the cron of a tick has recorded it, so that it will not create a run for it again. */
  isNoted: (tick: CronTick) => Promise<boolean>;
};

/**
 * Removes threads: the thread is marked first, so that it is hidden, then the data about it elsewhere is settled
 * (its row in the index, the ends of its traces), then its storage is erased. If the process dies in between, the
 * mark remains and the alarm continues the removal.
 */
export class ThreadRemoval {
  readonly #deps: ThreadRemovalDeps;
  #isAsking = false;
  #finishing: Promise<void> | null = null;

  constructor(deps: ThreadRemovalDeps) {
    this.#deps = deps;
  }

  /** Removes a thread on request, and abandons its runs. */
  async removeNow(): Promise<void> {
    const { storage, queue, alarm } = this.#deps;
    storage.transaction(() => {
      queue.abandon();
      storage.thread.markDeleted();
    });
    alarm.schedule(Date.now());
    await this.finish();
  }

  /** Continues a removal from its mark on. */
  async finish(): Promise<void> {
    this.#finishing ??= this.#finish().finally(() => {
      this.#finishing = null;
    });
    await this.#finishing;
  }

  async #finish(): Promise<void> {
    await this.#deps.index.remove();
    await this.#deps.traceEnds?.deliver("all");
    await this.#erase();
  }

  /**
   * Removes the temporary thread of a stateless run once the run has ended, its webhook is settled and no client
   * reads its stream.
   */
  removeIfDone(): void {
    const { storage, streams, traceEnds, webhooks, alarm } = this.#deps;
    const thread = storage.exists ? storage.thread.find() : null;
    if (thread === null || thread.temporary === 0 || !webhooks.isEmpty()) return;
    const run = storage.runs.newest();
    if (run !== null) {
      const promised = run.resumable === 1 && (run.expires_at ?? 0) > Date.now();
      if (isInFlight(run) || promised || streams.hasReaders(run.seq)) return;
    }
    const tick = tickOf(storage.texts);
    if (tick !== null) {
      void this.#removeWhenNoted(tick);
      return;
    }
    if (traceEnds === null || traceEnds.isEmpty()) {
      void this.#erase();
      return;
    }
    // The thread is hidden, but the ends of its traces are still to be recorded.
    if (thread.deleted === 0) {
      storage.transaction(() => storage.thread.markDeleted());
      alarm.schedule(Date.now());
    }
  }

  /**
   * Removes the thread once its cron has recorded the tick. Until then the cron may request the run of the tick
   * again, and if the thread did not exist, the run would execute twice. If the tick is not recorded yet, the
   * alarm asks again.
   */
  async #removeWhenNoted(tick: CronTick): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { storage, isNoted } = this.#deps;
    const noted = await isNoted(tick).catch(() => false);
    this.#isAsking = false;
    if (!noted || !storage.exists) return;
    storage.transaction(() => forgetTick(storage.texts));
    this.removeIfDone();
  }

  async #erase(): Promise<void> {
    const { storage, streams, protocol, index, alarm } = this.#deps;
    const erased = storage.erase();
    alarm.forget();
    index.reset();
    streams.endAll();
    protocol.endAll();
    await erased;
  }
}
