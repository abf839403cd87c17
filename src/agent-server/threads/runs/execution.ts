import type { RunRow, RunStatus } from "../storage/run-row.ts";

/** The way in which a run is cancelled. `rollback` removes the run and its checkpoints. */
export type CancelAction = "interrupt" | "rollback" | "timeout";

/** One attempt of one run, in memory. It exists exactly while a graph host works on it. */
export class Execution {
  readonly run: RunRow;
  readonly cancelled: Promise<void>;
  readonly ended: Promise<void>;
  #cancelAction: CancelAction | null = null;
  readonly #cancel: () => void;
  readonly #end: () => void;

  constructor(run: RunRow) {
    this.run = run;
    const cancel = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    this.cancelled = cancel.promise;
    this.#cancel = cancel.resolve;
    this.ended = end.promise;
    this.#end = end.resolve;
  }

  get cancelAction(): CancelAction | null {
    return this.#cancelAction;
  }

  /** The latest action counts, except that a rollback is never replaced, because it removes more. */
  cancel(action: CancelAction): void {
    if (this.#cancelAction !== "rollback") this.#cancelAction = action;
    this.#cancel();
  }

  /** Ends the execution. This also releases the host's call that waits for a cancellation. */
  end(): void {
    this.#end();
    this.#cancel();
  }

  /** Returns the status for an outcome: a run that was cancelled before it ended by itself is cancelled. */
  finalStatus(outcome: "success" | "interrupted" | "error"): RunStatus {
    if (outcome !== "interrupted") return outcome;
    return this.#cancelAction === "timeout" ? "timeout" : "interrupted";
  }
}
