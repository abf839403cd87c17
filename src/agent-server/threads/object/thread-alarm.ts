import { tickOf } from "../storage/cron-tick.ts";
import type { IndexOutbox } from "../index/index-outbox.ts";
import type { TraceEnds } from "../traces/trace-ends.ts";
import type { ThreadStream } from "../runs/thread-stream.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";

/** While a run is in flight: keeps the object awake, and finds the run again after a crash. */
const HEARTBEAT_MS = 10_000;

/** When an index row that could not be written at once is tried again. */
const INDEX_RETRY_MS = 5000;

/** When a temporary thread asks again whether the cron that made its run has noted that. */
const TICK_RETRY_MS = 10_000;

/** The thread object has one alarm, which is set to whatever is due next. */
export class ThreadAlarm {
  readonly #object: DurableObjectStorage;
  readonly #storage: ThreadStorage;
  readonly #index: IndexOutbox;
  readonly #traceEnds: TraceEnds | null;
  readonly #webhooks: WebhookOutbox;
  readonly #following: ThreadStream;
  /** When the alarm goes off, as far as this instance knows. */
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

  /** Sets the alarm, unless it is set to an earlier time already. */
  schedule(now: number): void {
    const { runs, thread, texts } = this.#storage;
    const { deleted, temporary, expires_at } = thread.get();
    const running = runs.running() !== null;
    const pending = runs.nextPending()?.created_at ?? null;
    const due = [
      running ? now + HEARTBEAT_MS : null,
      // A pending run behind a running one waits for the end of that, not for a time.
      pending === null || running ? null : pending,
      // A run in flight has its heartbeat, and with it the index its next chance.
      !running && this.#index.isDirty() ? now + HEARTBEAT_MS : null,
      this.#index.hasFailed() || deleted === 1 ? now + INDEX_RETRY_MS : null,
      // It goes when its cron has noted the tick.
      temporary === 1 && tickOf(texts) !== null ? now + TICK_RETRY_MS : null,
      runs.nextExpiry(),
      // What is in flight holds it off.
      running || pending !== null || deleted === 1 ? null : expires_at,
      this.#traceEnds?.nextDue() ?? null,
      this.#webhooks.nextDue(),
      this.#following.nextDue(),
    ].filter((at) => at !== null);
    if (due.length === 0) return;
    // A time that an alarm is being handled for must be avoided: setting it again would be lost.
    const next = Math.max(Math.min(...due), now + 1);
    if (this.#at !== null && this.#at <= next) return;
    this.#at = next;
    void this.#object.setAlarm(next);
  }

  /** To be called when the alarm has gone off, or was deleted with all that was stored. */
  forget(): void {
    this.#at = null;
  }
}
