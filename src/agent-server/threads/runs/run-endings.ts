import type {
  RunError,
  RunEvent,
  RunOutcome,
  ThreadSnapshot,
} from "../../../graph-runtime/protocol.ts";
import type { RunRow } from "../storage/run-row.ts";
import { isStopped } from "./graph-answers.ts";
import type { CancelAction } from "./execution.ts";
import type { RunStreams } from "./run-streams.ts";
import { forgetFeedback, withFeedback } from "../storage/feedback-links.ts";
import { forgetKwargs } from "../storage/run-kwargs.ts";
import type { ThreadStatus } from "../storage/thread-record.ts";
import type { PastState, ThreadStates } from "./thread-states.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";

export type RunEndingsDeps = {
  storage: ThreadStorage;
  streams: RunStreams;
  states: ThreadStates;
  webhooks: Pick<WebhookOutbox, "add" | "forget">;
  now: () => number;
  /** Milliseconds for which the events of an ended run are kept for late readers. */
  retentionMs: number;
};

type Ending = { status: RunRow["status"]; error?: RunError | null; stop?: string | null };

/** Stores the end of a run: its row, its events, its result, and the state of its thread. */
export class RunEndings {
  readonly #deps: RunEndingsDeps;
  readonly #storage: ThreadStorage;
  /** Final values of runs that ended while clients waited for them, keyed by the run's `seq`. */
  readonly #results = new Map<number, string>();

  constructor(deps: RunEndingsDeps) {
    this.#deps = deps;
    this.#storage = deps.storage;
  }

  /** Returns the final values of a run that has just ended; null later, when they are read from its checkpoint. */
  result(runSeq: number): string | null {
    return this.#results.get(runSeq) ?? null;
  }

  /** Forgets the run's result, when no client waits for it any longer. */
  forgetResult(runSeq: number): void {
    this.#results.delete(runSeq);
  }

  /** Keeps the result for clients that are waiting for the run; later ones read it from the checkpoint. */
  keepResult(run: RunRow, result: string | null, error: RunError | null): void {
    if (!this.#deps.streams.hasReaders(run.seq)) return;
    const text = error === null ? result : JSON.stringify({ __error__: error });
    this.#results.set(run.seq, text ?? this.#storage.thread.values() ?? "{}");
  }

  /**
   * Returns the state in which the run left the thread. It is read from the last checkpoint if the host did not
   * return it.
   */
  async snapshotOf(run: RunRow, outcome: RunOutcome): Promise<ThreadSnapshot | null> {
    const { result, snapshot } = outcome;
    if (snapshot === "result") return { values: result, next: [], interrupts: {} };
    return snapshot ?? this.#deps.states.after(run);
  }

  /** Ends a run, with the state in which it leaves the thread. Must be called in a transaction. */
  end(
    run: RunRow,
    end: Ending & {
      error: RunError | null;
      settled: ThreadStatus;
      snapshot: ThreadSnapshot | null;
    },
  ): void {
    this.#endRow(run, end);
    this.settle(end.settled, end.snapshot, end.error);
    this.#deps.webhooks.add(run);
  }

  /** Cancels a run that has not started. Must be called in a transaction. */
  withdraw(run: RunRow, action: CancelAction): void {
    const { thread, runs } = this.#storage;
    if (action === "rollback") this.erase(run);
    else this.#endRow(run, { status: "interrupted" });
    thread.settle(runs.inFlight().length > 0, this.#deps.now());
    if (action !== "rollback") this.#deps.webhooks.add(run);
  }

  /** Ends the run's row, and deletes its events unless a client may still read them. */
  #endRow(run: RunRow, end: Ending): void {
    const now = this.#deps.now();
    const { log } = this.#storage;
    const kept = this.keepsEvents(run);
    if (this.#deps.streams.storesEvents(run)) log.store(run.seq);
    const isStored = kept && log.hasStored(run.seq);
    const nextEvent = log.nextId(run.seq);
    this.#passPlaces(run);
    this.#storage.runs.end(run.seq, {
      status: end.status,
      error: end.error ? JSON.stringify(end.error) : null,
      stop: end.stop ?? null,
      now,
      nextEvent,
      expiresAt: isStored ? now + this.#deps.retentionMs : null,
    });
    if (!kept) log.delete(run.seq);
  }

  /**
   * Whether the run's events are kept. Without `stream_resumable` events are guaranteed only until the run ends,
   * but readers that are connected at that time can read to the end at their own pace.
   */
  keepsEvents(run: RunRow): boolean {
    return run.resumable === 1 || this.#deps.streams.isFollowed(run.seq);
  }

  /** Returns the events that are appended when the run ends; none if no client can read them. */
  lastEvents(run: RunRow, tail: RunEvent[]): RunEvent[] {
    return this.keepsEvents(run) ? withFeedback(this.#storage.texts, run, tail) : [];
  }

  /** Sets what the thread shows from now on. Must be called in a transaction. */
  settle(settled: ThreadStatus, snapshot: ThreadSnapshot | null, error: RunError | null): void {
    const { thread, runs } = this.#storage;
    thread.setState(snapshot, settled, error);
    thread.settle(runs.inFlight().length > 0, this.#deps.now());
  }

  /** Removes the run; the thread shows its previous state again. Must be called in a transaction. */
  undo(run: RunRow, before: PastState): void {
    this.erase(run);
    this.settle(isStopped(before.snapshot) ? "interrupted" : "idle", before.snapshot, null);
    if (before.graphId !== null) this.#storage.thread.setGraph(before.graphId);
  }

  /** Removes a run with its checkpoints, events and texts. Must be called in a transaction. */
  erase(run: RunRow): void {
    const { runs, texts, checkpoints, log } = this.#storage;
    this.#passPlaces(run);
    checkpoints.deleteRun(run.run_id);
    log.delete(run.seq);
    forgetKwargs(texts, run);
    this.#deps.webhooks.forget(run);
    forgetFeedback(texts, run);
    runs.delete(run.seq);
    this.#deps.streams.wake(run.seq);
  }

  /** Makes sure that the places of the run's events in the thread, and one for its end, are never assigned again. */
  #passPlaces({ seq, first_seq }: RunRow): void {
    if (first_seq === null) return;
    this.#storage.thread.passSeq(first_seq + this.#storage.log.nextId(seq) + 1);
  }

  /**
   * Deletes events whose retention has ended, but not those that a reader still needs. Must be called in a
   * transaction.
   */
  expire(): void {
    const { runs, log } = this.#storage;
    const now = this.#deps.now();
    for (const run of runs.expired(now)) {
      if (this.#deps.streams.isNeeded(run)) {
        runs.keepUntil(run.seq, now + this.#deps.retentionMs);
        continue;
      }
      log.delete(run.seq);
      runs.keepUntil(run.seq, null);
    }
  }
}

export function settledStatus(
  snapshot: ThreadSnapshot | null,
  status: RunRow["status"],
): ThreadStatus {
  if (status === "error" || status === "timeout") return "error";
  return snapshot !== null && isStopped(snapshot) ? "interrupted" : "idle";
}

export function errorText({ error, message }: RunError): string {
  return `${error}: ${message}`;
}
