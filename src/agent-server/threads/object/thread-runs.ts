import { jsonList, type JsonText } from "../../../lib/json-answer.ts";
import type { Result } from "../contract/failures.ts";
import type { CreateRunRequest, RunKwargs } from "../contract/run-request.ts";
import type { Visibility } from "../../../lib/metadata-filter.ts";
import {
  ALL_THREADS,
  type CreateRunResult,
  type EventsQuery,
  isVisible,
  type RunListQuery,
} from "../contract/thread-requests.ts";
import { type Run, toRunJson } from "../contract/thread-json.ts";
import type { CancelAction } from "../runs/execution.ts";
import type { RunQueue } from "../runs/run-queue.ts";
import { type RunStreams, textStream } from "../runs/run-streams.ts";
import type { ThreadStates } from "../runs/thread-states.ts";
import { isOfModes } from "../storage/event-frames.ts";
import { kwargsText } from "../storage/run-kwargs.ts";
import { isInFlight, type RunRow, type ThreadRunSelection } from "../storage/run-row.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import { makeThread } from "./make-thread.ts";

type ThreadRunsDeps = {
  storage: ThreadStorage;
  queue: RunQueue;
  streams: RunStreams;
  states: ThreadStates;
  /** Returns the thread as the caller sees it; null if there is none. */
  wake: (filter: Visibility) => ThreadRow | null;
  /** Must be called when a run was created or changed. */
  onChange: (run: RunRow) => void;
  /** Resolves when the index has the changes. */
  indexed: () => Promise<void>;
};

export type CancelOptions = { action: CancelAction; wait: boolean };

export type JoinOptions = { cancel_on_disconnect: boolean };

export type FollowedRun = Result<ReadableStream<Uint8Array>, "thread_not_found" | "run_not_found">;

/** The operations of clients on the runs of one thread. */
export class ThreadRuns {
  readonly #deps: ThreadRunsDeps;

  constructor(deps: ThreadRunsDeps) {
    this.#deps = deps;
  }

  async create(filter: Visibility, request: CreateRunRequest): Promise<CreateRunResult> {
    const existing = this.#deps.wake(ALL_THREADS);
    if (existing === null || !isVisible(existing, filter)) {
      if (!request.create_thread) return { ok: false, code: "thread_not_found" };
      if (existing !== null) return { ok: false, code: "thread_exists" };
      const { scope, thread_id, payload, temporary, ttl = null, tick } = request;
      const { metadata } = payload;
      makeThread(this.#deps.storage, { scope, thread_id, metadata, temporary, ttl, tick });
    }
    // A client that does not know whether its run was created repeats the request with the same id.
    const known = this.#deps.storage.runs.get(request.run_id);
    const accepted =
      known === null
        ? this.#deps.queue.enqueue(request)
        : { ok: true as const, run: known, kwargs: this.#deps.queue.kwargs(known) };
    if (!accepted.ok) return { ok: false, code: "thread_busy" };
    const { run, kwargs } = accepted;
    const onDisconnect = request.cancel_on_disconnect ? () => this.#cancelLater(run.run_id) : null;
    let stream: ReadableStream<Uint8Array> | null = null;
    if (request.follow === "events") {
      stream = this.#deps.streams.events(run.seq, { after: -1, accept: null, onDisconnect });
    } else if (request.follow === "result") {
      stream = this.#deps.streams.result(run.seq, onDisconnect);
    }
    // Clients see the run as it was requested: pending. That it may start at once only affects how it is stored.
    const json = toRunJson(
      { ...run, status: known?.status ?? "pending" },
      request.thread_id,
      kwargs,
    );
    this.#deps.queue.pump();
    this.#deps.onChange(run);
    return { ok: true, value: { run: json, stream } };
  }

  /** Returns a list of runs as JSON text, with the requested fields of each; null if the thread does not exist. */
  async list(filter: Visibility, query: RunListQuery): Promise<JsonText | null> {
    const thread = this.#deps.wake(filter);
    if (thread === null) return null;
    return jsonList(runTexts(this.#deps.storage, thread.thread_id, query));
  }

  async get(filter: Visibility, runId: string): Promise<Run | null> {
    const thread = this.#deps.wake(filter);
    const run = thread === null ? null : this.#deps.storage.runs.get(runId);
    if (thread === null || run === null) return null;
    return toRunJson(run, thread.thread_id, this.#deps.queue.kwargs(run));
  }

  /** Removes a run and its checkpoints. A run in flight is cancelled first. Returns false if there is no such run. */
  async remove(filter: Visibility, runId: string): Promise<boolean> {
    if (this.#deps.wake(filter) === null) return false;
    const run = this.#deps.storage.runs.get(runId);
    if (run === null) return false;
    if (isInFlight(run)) await this.#deps.queue.cancel(run, "rollback");
    else await this.#deps.queue.remove(run);
    await this.#deps.indexed();
    return true;
  }

  /** Cancels a run. With `wait`, resolves when the run has ended. A run that has ended already is left unchanged. */
  async cancel(
    filter: Visibility,
    runId: string,
    options: CancelOptions,
  ): Promise<Result<null, "run_not_found">> {
    const run = this.#deps.wake(filter) === null ? null : this.#deps.storage.runs.get(runId);
    if (run === null) return { ok: false, code: "run_not_found" };
    if (!isInFlight(run)) return { ok: true, value: null };
    const cancelled = this.#deps.queue.cancel(run, options.action);
    if (options.wait) await cancelled;
    return { ok: true, value: null };
  }

  /** Returns the number of selected runs. Those in flight are cancelled, without waiting for them to end. */
  async cancelAll(
    filter: Visibility,
    selection: ThreadRunSelection,
    action: CancelAction,
  ): Promise<number> {
    const runs = this.#deps.wake(filter) === null ? [] : this.#deps.storage.runs.select(selection);
    this.#deps.queue.cancelAll(runs.filter(isInFlight), action);
    return runs.length;
  }

  /** Returns the run's final values as a JSON body, which begins at once and ends with the run. */
  async join(filter: Visibility, runId: string, options: JoinOptions): Promise<FollowedRun> {
    const found = this.#findRun(runId, filter);
    if (!found.ok) return found;
    const run = found.value;
    const onDisconnect = options.cancel_on_disconnect ? () => this.#cancelLater(runId) : null;
    if (!isInFlight(run))
      return { ok: true, value: textStream(await this.#deps.states.resultOf(run)) };
    return { ok: true, value: this.#deps.streams.result(run.seq, onDisconnect) };
  }

  async stream(filter: Visibility, runId: string, query: EventsQuery): Promise<FollowedRun> {
    const found = this.#findRun(runId, filter);
    if (!found.ok) return found;
    const run = found.value;
    // Without a last event id the reader gets only events that are produced from now on.
    const after = query.last_event_id ?? this.#deps.storage.log.nextId(run.seq) - 1;
    const { modes } = query;
    const stream = this.#deps.streams.events(run.seq, {
      after,
      accept: modes === null ? null : (event) => isOfModes(event, modes),
      onDisconnect: query.cancel_on_disconnect ? () => this.#cancelLater(runId) : null,
    });
    return { ok: true, value: stream };
  }

  #cancelLater(runId: string): void {
    void this.cancel(ALL_THREADS, runId, { action: "interrupt", wait: false });
  }

  #findRun(
    runId: string,
    filter: Visibility,
  ): Result<RunRow, "thread_not_found" | "run_not_found"> {
    if (this.#deps.wake(filter) === null) return { ok: false, code: "thread_not_found" };
    const run = this.#deps.storage.runs.get(runId);
    return run === null ? { ok: false, code: "run_not_found" } : { ok: true, value: run };
  }
}

/**
 * Yields the JSON texts of a page of a thread's runs, the newest first. Each run is read on demand, because its
 * input may be large. The page ends early if the thread is deleted; a run that is deleted in the meantime is left
 * out.
 */
async function* runTexts(
  { runs, texts, thread }: ThreadStorage,
  threadId: string,
  { fields, ...page }: RunListQuery,
): AsyncGenerator<string> {
  const isWanted = (field: string): boolean => fields === null || fields.includes(field);
  for (const runId of runs.list(page)) {
    if (thread.find() === null) return;
    const row = runs.get(runId);
    if (row === null) continue;
    const text = isWanted("kwargs") ? kwargsText(texts, row) : null;
    const kwargs: RunKwargs | null = text === null ? null : JSON.parse(text);
    const members: [string, unknown][] = Object.entries(toRunJson(row, threadId, kwargs));
    const told = members.filter(([field]) => isWanted(field));
    // This is not a member of the API's run, so it is included only if the caller names it.
    if (fields?.includes("stopped") === true) told.push(["stopped", row.stop !== null]);
    yield JSON.stringify(Object.fromEntries(told));
  }
}
