import type { TraceBatch, TraceSpec } from "../../../graph-runtime/protocol.ts";
import { isObject } from "../../../lib/json.ts";
import { log, type LogLevel } from "../../../lib/log.ts";
import type { Scope } from "../../../lib/scope.ts";
import type { RunTracerRequest } from "../contract/run-request.ts";
import type { RunRow } from "../storage/run-row.ts";

/**
 * Milliseconds before a batch is recorded. Recording occupies the thread, so the answer to the batch's run goes
 * first.
 */
const RECORD_DELAY_MS = 100;

/** Milliseconds between attempts to record a batch, which is lost when all have failed. */
const RETRY_DELAYS_MS = [500, 2000];

/** Maximum characters of the recorder's error in the log. */
const MAX_LOGGED_ERROR_CHARS = 500;

/** Maximum characters that may wait for a slow recorder; a batch that exceeds them is lost. */
const MAX_WAITING_CHARS = 16 * 1024 * 1024;

/** Creates and updates of runs in the format of the tracing API. */
export type TraceOperations = { post: unknown[]; patch: unknown[] };

type Traced = { scope: Scope; runId: string; tracer: RunTracerRequest | null };

export type RunTracesDeps = {
  scope: () => Scope;
  /** Records operations in the named project, or in that of the deployment if the name is null. */
  record: (scope: Scope, operations: TraceOperations, project: string | null) => Promise<void>;
  waitUntil: (promise: Promise<void>) => void;
  /** Called when the end of the root run of a trace was recorded. */
  onRootEnd: (runId: string) => void;
  logLevel: LogLevel;
};

/** The trace of one run, as the thread handles it. */
export type RunTrace = {
  spec: TraceSpec;
  /** Resolves when the batch is recorded or lost. */
  accept: (batch: TraceBatch) => Promise<void>;
};

/**
 * Sends the traces of a thread's runs to the recorder, one batch after the other. No run waits for it or fails
 * because of it: a batch that cannot be recorded is lost, and this is logged.
 */
export class RunTraces {
  readonly #deps: RunTracesDeps;
  #last: Promise<void> = Promise.resolve();
  #waitingChars = 0;

  constructor(deps: RunTracesDeps) {
    this.#deps = deps;
  }

  /** Returns the trace of a run that has started. */
  of(run: RunRow, tracer: RunTracerRequest | null = null): RunTrace {
    // The scope is read now, because the thread may no longer exist when a batch arrives.
    const scope = this.#deps.scope();
    const started_at = run.started_at ?? run.created_at;
    return {
      spec: { started_at, metadata: { deployment_id: scope.deploymentId } },
      accept: (batch) => this.#enqueue({ scope, runId: run.run_id, tracer }, batch),
    };
  }

  #enqueue(traced: Traced, batch: TraceBatch): Promise<void> {
    const { runId } = traced;
    if (!isBatch(batch)) {
      this.#logLoss(runId, { json: "", operations: 0 }, "it is no batch");
      return Promise.resolve();
    }
    if (this.#waitingChars + batch.json.length > MAX_WAITING_CHARS) {
      this.#logLoss(runId, batch, "too much is waiting");
      return Promise.resolve();
    }
    this.#waitingChars += batch.json.length;
    const recorded = Promise.all([this.#last, sleep(RECORD_DELAY_MS)]).then(async () => {
      await this.#record(traced, batch);
      this.#waitingChars -= batch.json.length;
    });
    this.#last = recorded;
    this.#deps.waitUntil(recorded);
    return recorded;
  }

  /** Records a batch. Never rejects. */
  async #record({ scope, runId, tracer }: Traced, batch: TraceBatch): Promise<void> {
    let failure: unknown;
    for (const delay of [0, ...RETRY_DELAYS_MS]) {
      if (delay > 0) await sleep(delay);
      try {
        const operations: TraceOperations = JSON.parse(batch.json);
        await this.#deps.record(
          scope,
          ofExample(operations, runId, tracer),
          tracer?.project_name ?? null,
        );
        if (endsRun(operations, runId)) this.#deps.onRootEnd(runId);
        return;
      } catch (error) {
        failure = error;
      }
    }
    this.#logLoss(runId, batch, String(failure));
  }

  #logLoss(runId: string, { operations }: TraceBatch, reason: string): void {
    const error = reason.slice(0, MAX_LOGGED_ERROR_CHARS);
    log(this.#deps.logLevel, "error", { event: "trace_lost", run_id: runId, operations, error });
  }
}

/** Adds the example's id to the root run, if the run belongs to an example. */
function ofExample(
  { post, patch }: TraceOperations,
  runId: string,
  tracer: RunTracerRequest | null,
): TraceOperations {
  const reference_example_id = tracer?.example_id ?? null;
  if (reference_example_id === null) return { post, patch };
  const named = post.map((run) =>
    isObject(run) && run["id"] === runId ? { ...run, reference_example_id } : run,
  );
  return { post: named, patch };
}

function endsRun({ post, patch }: TraceOperations, runId: string): boolean {
  return [...post, ...patch].some(
    (run) =>
      typeof run === "object" &&
      run !== null &&
      "id" in run &&
      run.id === runId &&
      "end_time" in run &&
      Boolean(run.end_time),
  );
}

/** Whether the value is a batch. The host of a deployment is its own code, so it may send values of any type. */
function isBatch(batch: unknown): batch is TraceBatch {
  if (typeof batch !== "object" || batch === null) return false;
  return "json" in batch && typeof batch.json === "string" && "operations" in batch;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
