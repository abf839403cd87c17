import type {
  CommitAck,
  GraphHostApi,
  RunBatch,
  RunError,
  RunOutcome,
} from "../../../graph-runtime/protocol.ts";
import type { StoreOperation, StoreTurn } from "../../../graph-runtime/store-operations.ts";
import { log } from "../../../lib/log.ts";
import type { StorageUse } from "../../../deployment-log/usage-meter.ts";
import { type CancelAction, Execution } from "./execution.ts";
import { toOutcome } from "./graph-answers.ts";
import { ExecutionPort } from "./run-port.ts";
import { type CreateRunRequest, type RunKwargs, toRunSpec } from "../contract/run-request.ts";
import type { RunStreams } from "./run-streams.ts";
import type { ThreadTraces } from "../traces/thread-traces.ts";
import { kwargsText } from "../storage/run-kwargs.ts";
import type { RunRow } from "../storage/run-row.ts";
import { type EnqueueResult, RunAdmission, RunOutput } from "./run-admission.ts";
import { errorText, RunEndings, type RunEndingsDeps, settledStatus } from "./run-endings.ts";
import type { ThreadStates } from "./thread-states.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";

/** Number of attempts after which a run that keeps dying with its process is given up. */
const MAX_ATTEMPTS = 3;

/** Milliseconds after a cancellation after which graph code that ignores its abort signal is abandoned. */
const CANCEL_GRACE_MS = 5000;

/** Milliseconds per attempt so far before a run is retried that failed for reasons outside the graph. */
const RETRY_DELAY_MS = 500;

/** Outcome of a cancelled run whose host did not answer: it keeps what it had committed. */
const ABANDONED: RunOutcome = {
  status: "interrupted",
  tail: { checkpoints: [], events: [] },
  result: null,
  snapshot: null,
};

export type RunQueueDeps = {
  storage: ThreadStorage;
  streams: RunStreams;
  states: ThreadStates;
  /** Returns the graphs of a revision. */
  host: (revisionId: string | null) => GraphHostApi;
  store: (operations: StoreOperation[]) => Promise<StoreTurn>;
  /** Counts what the platform has read and written on behalf of a revision's code. */
  countUse: (revisionId: string | null, use: StorageUse) => void;
  webhooks: RunEndingsDeps["webhooks"];
  /** Null if runs record no traces. */
  traces: ThreadTraces | null;
  now: () => number;
  /** Milliseconds for which the events of an ended run are kept for late readers. */
  retentionMs: number;
  /** Called when this run changed the thread or its queue, so that the index and the alarm may be out of date. */
  onChange: (run: RunRow) => void;
  /**
   * Resolves when lists and searches show the thread's current state, or after a short maximum wait. Never
   * rejects.
   */
  indexed: () => Promise<void>;
  /** Called when a run of a temporary thread has ended. */
  onTemporaryEnd: (run: RunRow) => void;
};

/**
 * Executes the runs of one thread, one at a time, in the order in which they are due. The rows are the source of
 * truth: `pump` reads them and starts the next run, so a run whose process died is simply found again.
 */
export class RunQueue {
  readonly #deps: RunQueueDeps;
  readonly #storage: ThreadStorage;
  readonly endings: RunEndings;
  readonly #output: RunOutput;
  readonly #admission: RunAdmission;
  #execution: Execution | null = null;
  /** A run that was stored as started in this turn, and will be executed at the end of it. */
  #begun: RunRow | null = null;
  /** Runs that have ended, but whose readers have not been notified yet. */
  readonly #concluding = new Set<number>();

  constructor(deps: RunQueueDeps) {
    this.#deps = deps;
    this.#storage = deps.storage;
    this.endings = new RunEndings(deps);
    this.#output = new RunOutput(deps);
    this.#admission = new RunAdmission({ ...deps, output: this.#output });
  }

  /**
   * Stores the run and applies its multitask strategy. Nothing executes before `pump`, which must be called in the
   * same turn.
   */
  enqueue(request: CreateRunRequest): EnqueueResult {
    const result = this.#admission.admit(request, {
      isFree: this.#execution === null,
      cancel: (run, action) => this.#cancelRow(run, action),
    });
    if (result.ok && result.run.status === "running") this.#begun = result.run;
    return result;
  }

  kwargs(run: RunRow): RunKwargs | null {
    const text = kwargsText(this.#storage.texts, run);
    return text === null ? null : JSON.parse(text);
  }

  /** Whether the run has ended and its last events are released. */
  hasEnded(runSeq: number): boolean {
    return !this.#storage.runs.isInFlight(runSeq) && !this.#concluding.has(runSeq);
  }

  /** Starts the next due run, unless one is executing. This is also how an interrupted run is found again. */
  pump(): void {
    if (this.#execution !== null) return;
    const begun = this.#begun;
    this.#begun = null;
    if (begun !== null) {
      this.#execute(begun);
      return;
    }
    const run = this.#storage.runs.running() ?? this.#duePending();
    if (run !== null) this.#begin(run);
  }

  #duePending(): RunRow | null {
    const next = this.#storage.runs.nextPending();
    return next !== null && next.created_at <= this.#deps.now() ? next : null;
  }

  /** Cancels a run that has not ended. Resolves when it has ended; for a pending run, at once. */
  async cancel(run: RunRow, action: CancelAction): Promise<void> {
    const execution = this.#execution;
    this.#storage.transaction(() => this.#cancelRow(run, action));
    this.#deps.onChange(run);
    if (execution?.run.seq === run.seq) await execution.ended;
  }

  /** Cancels the runs in one transaction, so that none of them starts because another one has ended. */
  cancelAll(runs: readonly RunRow[], action: CancelAction): void {
    this.#storage.transaction(() => {
      for (const run of runs) this.#cancelRow(run, action);
    });
    for (const run of runs.slice(0, 1)) this.#deps.onChange(run);
  }

  /** Cancels the executing run if it has been running for longer than `limitMs`. */
  timeOut(limitMs: number): void {
    const run = this.#execution?.run;
    if (run === undefined) return;
    const now = this.#deps.now();
    if (now - (run.started_at ?? now) > limitMs) void this.cancel(run, "timeout");
  }

  /** Abandons the executing run, because the thread is being deleted. Must be called in a transaction. */
  abandon(): void {
    const run = this.#execution?.run;
    if (run !== undefined) this.#endTrace(run, "The thread was deleted", { host: false });
    this.#execution?.cancel("interrupt");
    this.#execution?.end();
    this.#execution = null;
  }

  #cancelRow(run: RunRow, action: CancelAction): void {
    if (run.status === "running") this.#cancelRunning(run, action);
    else this.endings.withdraw(run, action);
  }

  #cancelRunning(run: RunRow, action: CancelAction): void {
    const execution = this.#execution;
    if (execution === null || execution.run.seq !== run.seq) return;
    execution.cancel(action);
    setTimeout(() => {
      // The host has not returned: its output is refused from now on, and the queue continues.
      if (this.#execution === execution) void this.#finish(execution, ABANDONED);
    }, CANCEL_GRACE_MS);
  }

  #begin(row: RunRow): void {
    if (row.attempt >= MAX_ATTEMPTS) {
      void this.#giveUp(row);
      return;
    }
    this.#execute(this.#admission.begin(row));
  }

  #execute(run: RunRow): void {
    const execution = new Execution(run);
    this.#execution = execution;
    this.#deps.onChange(run);
    void this.#output.release(run);
    // In a separate turn, so that the response and the first event are sent before graph code occupies the thread.
    setTimeout(() => void this.#drive(execution), 0);
  }

  async #drive(execution: Execution): Promise<void> {
    try {
      await this.#finish(execution, toOutcome(await this.#callHost(execution)));
    } catch (error) {
      if (this.#execution !== execution) return;
      log("error", "error", {
        event: "run_attempt_failed",
        run_id: execution.run.run_id,
        attempt: execution.run.attempt,
        error: String(error),
      });
      if (execution.cancelAction === null) this.#retry(execution);
      else await this.#finish(execution, ABANDONED);
    }
  }

  async #callHost(execution: Execution): Promise<unknown> {
    const { run } = execution;
    const { checkpoints, thread } = this.#storage;
    const kwargs = this.kwargs(run);
    if (kwargs === null) throw new Error(`Run ${run.run_id} has lost its arguments`);
    const resuming = checkpoints.newestRun() === run.run_id;
    const fromNewest = resuming || kwargs.checkpoint === null;
    const trace = this.#deps.traces?.runs.of(run, kwargs.langsmith_tracer) ?? null;
    const spec = toRunSpec(run, thread.get().thread_id, kwargs, {
      resuming,
      namespaces: checkpoints.namespaces(),
      start: fromNewest && !kwargs.temporary ? checkpoints.start() : null,
      follow: this.#deps.streams.isFollowed(run.seq),
      trace: trace?.spec ?? null,
    });
    const port = new ExecutionPort(checkpoints, {
      commit: (batch) => this.#commit(execution, batch),
      cancelled: execution.cancelled,
      store: this.#deps.store,
      count: (use) => this.#deps.countUse(run.revision_id, use),
      trace: async (batch) => trace?.accept(batch),
    });
    return this.#deps.host(run.revision_id).run(spec, port);
  }

  /** Commits a batch of the host. Refused if another attempt, or the run's end, has superseded this one. */
  async #commit(execution: Execution, batch: RunBatch): Promise<CommitAck> {
    if (this.#execution !== execution) return { ok: false, code: "superseded" };
    return this.#output.commit(execution.run, batch);
  }

  /** Repeats the run from its last checkpoint, because the host failed, and not the graph. */
  #retry(execution: Execution): void {
    execution.end();
    setTimeout(() => {
      if (this.#execution !== execution) return;
      this.#execution = null;
      this.pump();
    }, RETRY_DELAY_MS * execution.run.attempt);
  }

  async #giveUp(run: RunRow): Promise<void> {
    const execution = new Execution(run);
    this.#execution = execution;
    const snapshot = await this.#deps.states.after(run);
    if (this.#execution !== execution) return;
    const error: RunError = {
      error: "RunInterruptedError",
      message: `The run was interrupted ${MAX_ATTEMPTS} times and is not tried again.`,
    };
    this.#storage.transaction(() => {
      this.#output.append(run, [{ event: "error", data: JSON.stringify(error) }]);
      this.endings.end(run, { status: "error", error, settled: "error", snapshot });
      this.#endTrace(run, errorText(error), { host: false });
    });
    this.endings.keepResult(run, null, error);
    this.#conclude(execution);
  }

  /** Called in the transaction that ends the run, so that no run's trace stays open. */
  #endTrace(run: RunRow, error: string | null, by: { host: boolean }): void {
    this.#deps.traces?.ends.add(run, { error, ...by });
  }

  async #finish(execution: Execution, outcome: RunOutcome): Promise<void> {
    if (this.#execution !== execution) return;
    const { run, cancelAction } = execution;
    if (cancelAction === "rollback") {
      await this.#rollBack(execution);
      return;
    }
    const status = execution.finalStatus(outcome.status);
    const error = outcome.status === "error" ? outcome.error : null;
    const snapshot = await this.endings.snapshotOf(run, outcome);
    if (this.#execution !== execution) return;
    this.endings.keepResult(run, error === null ? outcome.result : null, error);
    this.#storage.transaction(() => {
      this.#storage.checkpoints.apply(outcome.tail.checkpoints, run.run_id);
      this.#output.append(run, this.endings.lastEvents(run, outcome.tail.events));
      const settled = settledStatus(snapshot, status);
      const stop = status === "success" && settled === "interrupted" ? outcome.result : null;
      this.endings.end(run, { status, error, stop, settled, snapshot });
      const cancelled = cancelAction === null ? null : "The run was cancelled";
      const reason = error === null ? cancelled : errorText(error);
      this.#endTrace(run, reason, { host: outcome !== ABANDONED });
    });
    this.#conclude(execution);
  }

  /** Removes the run and everything that it stored; the thread shows its previous state again. */
  async #rollBack(execution: Execution): Promise<void> {
    const { run } = execution;
    const before = await this.#deps.states.before(run);
    if (this.#execution !== execution) return;
    this.#storage.transaction(() => {
      this.endings.undo(run, before);
      this.#endTrace(run, "The run was rolled back", { host: true });
    });
    this.#conclude(execution);
  }

  /** Removes a run that has ended. If no run came after it, the thread's state before it is restored. */
  async remove(run: RunRow): Promise<void> {
    const isNewest = this.#storage.checkpoints.newestRun() === run.run_id;
    const before = isNewest ? await this.#deps.states.before(run) : null;
    this.#storage.transaction(() => {
      if (before === null || this.#storage.runs.inFlight().length > 0) this.endings.erase(run);
      else this.endings.undo(run, before);
    });
    this.#deps.onChange(run);
  }

  /** Called after the commit that ended a run: the next run starts in the same turn, and so in one commit. */
  #conclude(execution: Execution): void {
    this.#execution = null;
    this.pump();
    void this.#announce(execution);
    this.#deps.onChange(execution.run);
  }

  /**
   * Notifies the readers of a run's end. A client that waited for the run and then lists threads must see its
   * final state.
   */
  async #announce(execution: Execution): Promise<void> {
    const { run } = execution;
    this.#concluding.add(run.seq);
    await this.#output.release(run);
    if (this.#deps.streams.hasReaders(run.seq)) await this.#deps.indexed();
    this.#concluding.delete(run.seq);
    this.#deps.streams.wake(run.seq);
    execution.end();
    if (this.#storage.thread.find()?.temporary === 1) this.#deps.onTemporaryEnd(run);
  }
}
