import { type CreateRunRequest, type RunKwargs, toKwargs } from "../contract/run-request.ts";
import { storedWebhook } from "../contract/thread-json.ts";
import { keepFeedback } from "../storage/feedback-links.ts";
import { placeKwargs } from "../storage/run-kwargs.ts";
import type { RunRow } from "../storage/run-row.ts";
import type { RunStart } from "../storage/run-table.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { CancelAction } from "./execution.ts";
import type { RunStreams } from "./run-streams.ts";
import type { CommitAck, RunBatch } from "../../../graph-runtime/protocol.ts";

type RunAdmissionDeps = {
  storage: ThreadStorage;
  streams: RunStreams;
  output: RunOutput;
  now: () => number;
};

/** The queue that a run is added to. */
type Queue = {
  /** Whether no run is executing. */
  isFree: boolean;
  cancel: (run: RunRow, action: CancelAction) => void;
};

export type EnqueueResult =
  | { ok: true; run: RunRow; kwargs: RunKwargs }
  | { ok: false; code: "busy" };

/** Stores runs when they are requested, and when they start. */
export class RunAdmission {
  readonly #storage: ThreadStorage;
  readonly #streams: RunStreams;
  readonly #output: RunOutput;
  readonly #now: () => number;

  constructor({ storage, streams, output, now }: RunAdmissionDeps) {
    this.#storage = storage;
    this.#streams = streams;
    this.#output = output;
    this.#now = now;
  }

  /**
   * Stores the run and applies its multitask strategy. A run with nothing before it is stored as started, in a
   * single write: it is `running`, and must be executed in the same turn.
   */
  admit(request: CreateRunRequest, queue: Queue): EnqueueResult {
    const { runs, thread } = this.#storage;
    const { payload, assistant } = request;
    const { multitask_strategy: strategy } = payload;
    const now = this.#now();
    return this.#storage.transaction(() => {
      const inFlight = runs.inFlight();
      if (strategy === "reject" && inFlight.length > 0) return { ok: false, code: "busy" };
      const kwargs = toKwargs(request, JSON.parse(thread.get().metadata));
      const isFree = queue.isFree && inFlight.length === 0;
      const run = this.#insert(request, kwargs, { now, isFree });
      if (inFlight.length === 0) thread.adopt({ assistant, config: kwargs.config }, now);
      if (strategy === "interrupt" || strategy === "rollback") {
        for (const other of inFlight) queue.cancel(other, strategy);
      }
      return { ok: true, run, kwargs };
    });
  }

  #insert(
    request: CreateRunRequest,
    kwargs: RunKwargs,
    { now, isFree }: { now: number; isFree: boolean },
  ): RunRow {
    const { runs, texts, thread } = this.#storage;
    const { payload, assistant, principal, run_id } = request;
    const row = {
      seq: thread.takeRunSeq(),
      run_id,
      assistant_id: assistant.assistant_id,
      graph_id: assistant.graph_id,
      multitask_strategy: payload.multitask_strategy,
      metadata: JSON.stringify(kwargs.config.metadata),
      resumable: payload.stream_resumable ? 1 : 0,
      created_at: now + Math.round(payload.after_seconds * 1000),
      principal: principal === null ? null : JSON.stringify(principal),
      revision_id: request.revision_id,
      webhook: storedWebhook(payload.webhook),
      kwargs: placeKwargs(texts, run_id, JSON.stringify(kwargs)),
      now,
    };
    keepFeedback(texts, row, request.feedback);
    return isFree && row.created_at <= now
      ? this.#begun(runs.insert(row, this.#startOf(row, { isNew: true })))
      : runs.insert(row);
  }

  /** Starts or retries a run that was stored before. */
  begin(row: RunRow): RunRow {
    const { runs, thread } = this.#storage;
    return this.#storage.transaction(() => {
      const started = runs.start(row.seq, {
        ...this.#startOf(row, { isNew: false }),
        now: this.#now(),
      });
      // A queued run may use a different graph than the run before; from now on its graph owns the state.
      if (thread.get().graph_id !== row.graph_id) thread.setGraph(row.graph_id);
      return this.#begun(started);
    });
  }

  /** Returns the columns of a run's row that are set when it starts. */
  #startOf(row: Pick<RunRow, "seq" | "resumable">, { isNew }: { isNew: boolean }): RunStart {
    const { runs, log, thread } = this.#storage;
    log.forgetEnded((seq) => runs.isInFlight(seq) || this.#streams.hasReaders(seq));
    const stored = this.#streams.storesEvents(row);
    return { place: thread.get().next_seq, nextEvent: log.begin(row.seq, { stored, isNew }) };
  }

  /** Appends the event with which each attempt begins. */
  #begun(started: RunRow): RunRow {
    this.#streams.begin(started);
    const { run_id, attempt } = started;
    const data = JSON.stringify({ run_id, attempt });
    this.#output.append(started, [{ event: "metadata", data }]);
    return { ...started, next_event: this.#storage.log.nextId(started.seq) };
  }
}

/**
 * Milliseconds between two commits of a run whose events are stored: events in between become one row. A reader
 * sees an event later by up to this time, except for the first event after a pause.
 */
const STORED_REST_MS = 120;

type RunOutputDeps = { storage: ThreadStorage; streams: RunStreams; now: () => number };

/** The output of an executing run: checkpoints and events, which readers see once they are on disk. */
export class RunOutput {
  readonly #storage: ThreadStorage;
  readonly #streams: RunStreams;
  readonly #now: () => number;

  constructor({ storage, streams, now }: RunOutputDeps) {
    this.#storage = storage;
    this.#streams = streams;
    this.#now = now;
  }

  /** Stores what the run's host has collected; the answer tells the host how to proceed. */
  async commit(run: RunRow, batch: RunBatch): Promise<CommitAck> {
    this.#storage.transaction(() => {
      this.#storage.checkpoints.apply(batch.checkpoints, run.run_id);
      this.append(run, batch.events);
    });
    await this.release(run);
    const follow = this.#streams.isFollowed(run.seq);
    return this.#streams.storesEvents(run)
      ? { ok: true, follow, rest_ms: STORED_REST_MS }
      : { ok: true, follow };
  }

  /** Appends events, which readers do not see before `release`. Must be called in a transaction. */
  append(run: RunRow, events: RunBatch["events"]): void {
    const { log } = this.#storage;
    const first = log.nextId(run.seq);
    const stored = this.#streams.storesEvents(run);
    const end = log.append(run.seq, events, { now: this.#now(), stored });
    this.#streams.hold(run.seq, first, end);
  }

  /** Shows the events so far to readers, as soon as they are on disk. */
  async release(run: RunRow): Promise<void> {
    const end = this.#storage.log.heldEnd(run.seq);
    await this.#storage.durable();
    this.#streams.release(run.seq, end);
  }
}
