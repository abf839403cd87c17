import type { TraceTier } from "../../db/tracing-schema.ts";
import type { Garbage } from "./stored-payload.ts";
import type { Outbox } from "./day-messages.ts";
import type { PendingRuns } from "./pending-runs.ts";
import type { TraceTable } from "./trace-table.ts";

/** Delay before work that was left undone by a failure or a crash is retried. */
const RETRY_MS = 5_000;
/** Delay before an alarm that failed as a whole is retried. */
const FAILED_ALARM_RETRY_MS = 60_000;

/** The sources of work. */
type Work = { traces: TraceTable; outbox: Outbox; garbage: Garbage; pending: PendingRuns };

/** A shard's alarm: it is set for the first thing to be done, and never moved to a later time. */
export class ShardAlarm {
  readonly #storage: DurableObjectStorage;
  readonly #work: Work;
  /** The time of the alarm as far as this instance knows; the alarm may be set earlier, never later. */
  #dueAt: number | null = null;

  constructor(storage: DurableObjectStorage, work: Work) {
    this.#storage = storage;
    this.#work = work;
  }

  /** Sets the alarm for the next work; `newTraceTier` is the tier of a trace that was just stored. */
  async schedule(newTraceTier?: TraceTier): Promise<void> {
    const { traces, outbox, garbage, pending } = this.#work;
    const now = Date.now();
    const isWaiting = !outbox.isEmpty() || !garbage.isEmpty() || traces.isEmpty();
    this.#dueAt ??= await this.#storage.getAlarm();
    const due: number[] = [];
    // No alarm is known of, which is also the case after a crash between a write and its alarm.
    if (this.#dueAt === null) due.push(traces.nextDue() ?? now + traces.longestMs);
    if (newTraceTier !== undefined) due.push(now + traces.ttlMs(newTraceTier));
    if (isWaiting) due.push(now + RETRY_MS);
    const settlingDue = pending.nextDue();
    if (settlingDue !== null) due.push(settlingDue);
    if (due.length > 0) await this.setBy(Math.min(...due));
  }

  /** Makes sure that the alarm fires at this time or earlier. In epoch milliseconds. */
  async setBy(due: number): Promise<void> {
    if (this.#dueAt !== null && this.#dueAt <= due) return;
    this.#dueAt = due;
    await this.#storage.setAlarm(due);
  }

  /** Sets a new alarm: the runtime gives up an alarm that fails after a while, and nothing else would set one. */
  async setAfterFailure(): Promise<void> {
    this.hasFired();
    await this.setBy(Date.now() + FAILED_ALARM_RETRY_MS);
  }

  /** Must be called when the alarm has fired or was deleted. */
  hasFired(): void {
    this.#dueAt = null;
  }
}
