import type { TraceTier } from "../../db/tracing-schema.ts";
import type { Garbage } from "./stored-payload.ts";
import type { Outbox } from "./day-messages.ts";
import type { PendingRuns } from "./pending-runs.ts";
import type { TraceTable } from "./trace-table.ts";

/** How long after a failure, or a crash, what was left undone is tried again. */
const RETRY_MS = 5_000;
/** The same for an alarm that failed as a whole. */
const FAILED_ALARM_RETRY_MS = 60_000;

/** What there may be to do. */
type Work = { traces: TraceTable; outbox: Outbox; garbage: Garbage; pending: PendingRuns };

/** When a shard's alarm goes off: it is set for the first thing to be done, and never put off. */
export class ShardAlarm {
  readonly #storage: DurableObjectStorage;
  readonly #work: Work;
  /** As far as this instance knows; the alarm may be set earlier, never later. */
  #dueAt: number | null = null;

  constructor(storage: DurableObjectStorage, work: Work) {
    this.#storage = storage;
    this.#work = work;
  }

  /** Sets it for what is to be done next; `newTraceTier` is of a trace that was stored just now. */
  async schedule(newTraceTier?: TraceTier): Promise<void> {
    const { traces, outbox, garbage, pending } = this.#work;
    const now = Date.now();
    const isWaiting = !outbox.isEmpty() || !garbage.isEmpty() || traces.isEmpty();
    this.#dueAt ??= await this.#storage.getAlarm();
    const due: number[] = [];
    // Nobody knows of an alarm: also after a crash between a write and its alarm.
    if (this.#dueAt === null) due.push(traces.nextDue() ?? now + traces.longestMs);
    if (newTraceTier !== undefined) due.push(now + traces.ttlMs(newTraceTier));
    if (isWaiting) due.push(now + RETRY_MS);
    const settlingDue = pending.nextDue();
    if (settlingDue !== null) due.push(settlingDue);
    if (due.length > 0) await this.setBy(Math.min(...due));
  }

  /** In epoch milliseconds. */
  async setBy(due: number): Promise<void> {
    if (this.#dueAt !== null && this.#dueAt <= due) return;
    this.#dueAt = due;
    await this.#storage.setAlarm(due);
  }

  /** An alarm that fails is given up by the runtime after a while, and no other one would be set. */
  async setAfterFailure(): Promise<void> {
    this.hasFired();
    await this.setBy(Date.now() + FAILED_ALARM_RETRY_MS);
  }

  /** The alarm went off, or was deleted. */
  hasFired(): void {
    this.#dueAt = null;
  }
}
