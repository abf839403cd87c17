import type { TraceBatch, TraceSpec } from "../../../graph-runtime/protocol.ts";
import { log, type LogLevel } from "../../../lib/log.ts";
import type { Scope } from "../../../lib/scope.ts";
import type { RunTracerRequest } from "../contract/run-request.ts";
import type { RunRow } from "../storage/run-row.ts";

/** Milliseconds between attempts to record a batch, which is lost when all have failed. */
const RETRY_DELAYS_MS = [500, 2000];

/** Maximum characters of the recorder's error in the log. */
const MAX_LOGGED_ERROR_CHARS = 500;

/** Maximum characters that may wait for a slow recorder; a batch that exceeds them is lost. */
const MAX_WAITING_CHARS = 16 * 1024 * 1024;

/** A part of a run's trace. */
export type SentBatch = {
  /** The text of TraceOperations. The host of a deployment is its own code, so it may be any text. */
  json: string;
  run_id: string;
  /** The example of a dataset that the run belongs to. */
  example_id: string | null;
  /** The project's name; null for that of the deployment. */
  project: string | null;
};

type Traced = { scope: Scope; runId: string; tracer: RunTracerRequest | null };

export type RunTracesDeps = {
  scope: () => Scope;
  /** Resolves when the batch is recorded, with whether that ends the run's root. Rejects if it is not recorded. */
  record: (scope: Scope, batch: SentBatch) => Promise<{ endsRun: boolean }>;
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
    const recorded = this.#last.then(async () => {
      await this.#record(traced, batch);
      this.#waitingChars -= batch.json.length;
    });
    this.#last = recorded;
    this.#deps.waitUntil(recorded);
    return recorded;
  }

  /** Records a batch. Never rejects. */
  async #record({ scope, runId, tracer }: Traced, batch: TraceBatch): Promise<void> {
    const sent = {
      json: batch.json,
      run_id: runId,
      example_id: tracer?.example_id ?? null,
      project: tracer?.project_name ?? null,
    };
    let failure: unknown;
    for (const delay of [0, ...RETRY_DELAYS_MS]) {
      if (delay > 0) await sleep(delay);
      try {
        const { endsRun } = await this.#deps.record(scope, sent);
        if (endsRun) this.#deps.onRootEnd(runId);
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

/** Whether the value is a batch. The host of a deployment is its own code, so it may send values of any type. */
function isBatch(batch: unknown): batch is TraceBatch {
  if (typeof batch !== "object" || batch === null) return false;
  return "json" in batch && typeof batch.json === "string" && "operations" in batch;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
