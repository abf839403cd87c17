import { tickOf } from "../storage/cron-tick.ts";
import type { IndexOutbox } from "../index/index-outbox.ts";
import type { TraceEnds } from "../traces/trace-ends.ts";
import type { ThreadStream } from "../runs/thread-stream.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";

/**
 * Milliseconds between alarms while a run is in flight: they keep the object awake, and find the run after a
 * crash.
 */
const HEARTBEAT_MS = 10_000;

/** Milliseconds after which a failed write of the index row is repeated. */
const INDEX_RETRY_MS = 5000;

/**
 * Milliseconds after which a temporary thread asks again whether the cron that created its run has recorded the
 * tick.
 */
const TICK_RETRY_MS = 10_000;

/** Manages the thread object's only alarm, which is set to whatever is due next. */
export class ThreadAlarm {
  readonly #object: DurableObjectStorage;
  readonly #storage: ThreadStorage;
  readonly #index: IndexOutbox;
  readonly #traceEnds: TraceEnds | null;
  readonly #webhooks: WebhookOutbox;
  readonly #following: ThreadStream;
  /** The time that the alarm is set for, as far as this instance knows. */
  #at: number | null = null;

  constructor(
    object: DurableObjectStorage,
    storage: ThreadStorage,
    index: IndexOutbox,
    traceEnds: TraceEnds | null,
    webhooks: WebhookOutbox,
    following: ThreadStream,
  ) {
    this.#object = object;
    this.#storage = storage;
    this.#index = index;
    this.#traceEnds = traceEnds;
    this.#webhooks = webhooks;
    this.#following = following;
  }

  /** Sets the alarm, unless it is already set to an earlier time. */
  schedule(now: number): void {
    const { runs, thread, texts } = this.#storage;
    const { deleted, temporary, expires_at } = thread.get();
    const running = runs.running() !== null;
    const pending = runs.nextPending()?.created_at ?? null;
    const due = [
      running ? now + HEARTBEAT_MS : null,
      // A pending run behind a running one waits for the end of that run, not for a time.
      pending === null || running ? null : pending,
      // While a run is in flight, its heartbeat retries the index.
      !running && this.#index.isDirty() ? now + HEARTBEAT_MS : null,
      this.#index.hasFailed() || deleted === 1 ? now + INDEX_RETRY_MS : null,
      // The thread is removed once its cron has recorded the tick.
      temporary === 1 && tickOf(texts) !== null ? now + TICK_RETRY_MS : null,
      runs.nextExpiry(),
      // Runs in flight postpone the thread's expiry.
      running || pending !== null || deleted === 1 ? null : expires_at,
      this.#traceEnds?.nextDue() ?? null,
      this.#webhooks.nextDue(),
      this.#following.nextDue(),
    ].filter((at) => at !== null);
    if (due.length === 0) return;
    // The time of an alarm that is being handled must not be used: setting it again would have no effect.
    const next = Math.max(Math.min(...due), now + 1);
    if (this.#at !== null && this.#at <= next) return;
    this.#at = next;
    void this.#object.setAlarm(next);
  }

  /** Must be called when the alarm has gone off, or was deleted together with the storage. */
  forget(): void {
    this.#at = null;
  }
}
