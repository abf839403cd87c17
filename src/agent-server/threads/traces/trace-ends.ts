import { rootRun } from "../../../graph-runtime/trace-json.ts";
import { log, type LogLevel } from "../../../lib/log.ts";
import type { Scope } from "../../../lib/scope.ts";
import { kwargsText } from "../storage/run-kwargs.ts";
import type { RunKwargs } from "../contract/run-request.ts";
import type { RunRow } from "../storage/run-row.ts";
import type { RunTracesDeps } from "./run-traces.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";

/** Milliseconds within which the host of an ended run reports the end itself, if it does at all. */
const HOST_GRACE_MS = 10_000;

/** Milliseconds before the first retry. Each further retry waits twice as long as the one before. */
const FIRST_RETRY_MS = 5000;
const MAX_ATTEMPTS = 8;

const PREFIX = "trace-end:";

/** LangGraph's name for the root of a run that has no name of its own. */
const ROOT_NAME = "LangGraph";

/** The end of a run's root, which is recorded from here if the run's host does not report it. */
type TraceEnd = {
  run_id: string;
  started_at: number;
  ended_at: number;
  error: string | null;
  metadata: Record<string, unknown>;
  due_at: number;
  attempts: number;
};

export type TraceEndsDeps = {
  storage: ThreadStorage;
  scope: () => Scope;
  record: RunTracesDeps["record"];
  now: () => number;
  logLevel: LogLevel;
};

/**
 * The roots of traces whose end is still to be recorded: an outbox in the thread's storage. A run's host usually
 * reports the end of its root itself, with the outputs. If it does not do so soon after the end, because it or
 * this object has died, the end is recorded from here.
 */
export class TraceEnds {
  readonly #deps: TraceEndsDeps;
  /** Runs whose hosts have reported the end, since the last `forgetTold`. */
  readonly #told = new Set<string>();
  /** The stored ends; null if they must be read, because they may have changed. */
  #stored: readonly TraceEnd[] | null = null;
  #delivering: Promise<void> | null = null;

  constructor(deps: TraceEndsDeps) {
    this.#deps = deps;
  }

  /** Adds the end of a run. Without its host, it is due at once. Must be called in a transaction. */
  add(run: RunRow, { error, host }: { error: string | null; host: boolean }): void {
    if (run.attempt === 0 || (host && this.#told.has(run.run_id))) return;
    const { storage, now, scope } = this.#deps;
    const ended_at = now();
    const end: TraceEnd = {
      run_id: run.run_id,
      started_at: run.started_at ?? run.created_at,
      ended_at,
      error,
      metadata: {
        ...parseObject(run.metadata),
        run_id: run.run_id,
        thread_id: storage.thread.get().thread_id,
        assistant_id: run.assistant_id,
        graph_id: run.graph_id,
        deployment_id: scope().deploymentId,
        run_attempt: run.attempt,
      },
      due_at: host ? ended_at + HOST_GRACE_MS : ended_at,
      attempts: 0,
    };
    this.#store(end);
  }

  /** Must be called when the host has reported the end of the run's root. */
  told(runId: string): void {
    this.#told.add(runId);
  }

  /** Removes the ends that hosts have reported in the meantime. Must be called in a transaction. */
  forgetTold(): void {
    for (const runId of this.#told) this.#remove(runId);
    this.#told.clear();
  }

  /** Returns when the next end is due; null if there is none. */
  nextDue(): number | null {
    const due = this.#untold().map(({ due_at }) => due_at);
    return due.length === 0 ? null : Math.min(...due);
  }

  isEmpty(): boolean {
    return this.#untold().length === 0;
  }

  /**
   * Records the ends that are due, and leaves those that fail for a later call. With "all", records all of them in
   * a last attempt. Never rejects.
   */
  async deliver(which: "due" | "all" = "due"): Promise<void> {
    while (this.#delivering !== null) await this.#delivering;
    this.#delivering = this.#deliver(which).finally(() => {
      this.#delivering = null;
    });
    await this.#delivering;
  }

  async #deliver(which: "due" | "all"): Promise<void> {
    const now = this.#deps.now();
    for (const end of this.#untold()) {
      if (which === "due" && end.due_at > now) continue;
      if (!this.#deps.storage.exists) return;
      try {
        const kwargs = this.#kwargs(end.run_id);
        const { project_name = null, example_id = null } = kwargs?.langsmith_tracer ?? {};
        await this.#deps.record(this.#deps.scope(), {
          json: JSON.stringify({ post: [this.#root(end, kwargs)], patch: [] }),
          run_id: end.run_id,
          example_id,
          project: project_name,
        });
        this.#change(() => this.#remove(end.run_id));
      } catch (error) {
        this.#change(() => this.#failed(end, String(error), which === "all"));
      }
    }
  }

  #failed(end: TraceEnd, error: string, isLast: boolean): void {
    const attempts = end.attempts + 1;
    if (attempts < MAX_ATTEMPTS && !isLast) {
      const due_at = this.#deps.now() + FIRST_RETRY_MS * 2 ** end.attempts;
      this.#store({ ...end, attempts, due_at });
      return;
    }
    this.#remove(end.run_id);
    const { logLevel } = this.#deps;
    log(logLevel, "error", { event: "trace_lost", run_id: end.run_id, operations: 1, error });
  }

  /** Returns the root with its end. It is recorded as a create, which keeps what the host has reported by updates. */
  #root(
    { run_id, started_at, ended_at, error, metadata }: TraceEnd,
    kwargs: RunKwargs | null,
  ): Record<string, unknown> {
    const input = kwargs?.command ?? kwargs?.input ?? {};
    const isRecord = typeof input === "object" && !Array.isArray(input);
    return {
      ...rootRun(run_id, started_at),
      name: kwargs?.config["run_name"] ?? ROOT_NAME,
      run_type: "chain",
      ...(kwargs === null ? {} : { inputs: isRecord ? input : { input } }),
      end_time: new Date(ended_at).toISOString(),
      ...(error === null ? {} : { error }),
      extra: { metadata },
    };
  }

  /** Returns null if the run was removed in the meantime. */
  #kwargs(runId: string): RunKwargs | null {
    const { runs, texts } = this.#deps.storage;
    const run = runs.get(runId);
    const text = run === null ? null : kwargsText(texts, run);
    return text === null ? null : JSON.parse(text);
  }

  #change(change: () => void): void {
    if (this.#deps.storage.exists) this.#deps.storage.transaction(change);
  }

  #store(end: TraceEnd): void {
    this.#deps.storage.texts.set(PREFIX + end.run_id, JSON.stringify(end));
    this.#stored = null;
  }

  #remove(runId: string): void {
    this.#deps.storage.texts.delete(PREFIX + runId);
    this.#stored = null;
  }

  #untold(): TraceEnd[] {
    this.#stored ??= this.#deps.storage.texts
      .withPrefix(PREFIX)
      .map((text) => JSON.parse(text) as TraceEnd);
    return this.#stored.filter(({ run_id }) => !this.#told.has(run_id));
  }
}

function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null ? { ...value } : {};
}
