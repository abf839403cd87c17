import { RpcTarget } from "cloudflare:workers";
import type { TracedRun } from "./run-trace.ts";

export type StoredCheckpoint = {
  id: string;
  checkpoint: ArrayBuffer | Uint8Array;
  metadata: ArrayBuffer | Uint8Array;
};

export type RunStart = {
  thread_id: string;
  run_id: string;
  /** JSON text; null for a run that continues from its newest checkpoint. */
  input: string | null;
  newest: StoredCheckpoint | null;
};

export type RunEnd = { values: string; checkpoints: StoredCheckpoint[] };

/** The calls by which a run reaches its thread. */
export interface RunPort {
  keep: (checkpoints: StoredCheckpoint[]) => Promise<void>;
  end: (end: RunEnd) => Promise<void>;
  trace: (runs: TracedRun[]) => Promise<void>;
}

/** Gives the graph the methods of a port and nothing else of the thread. */
export class ThreadPort extends RpcTarget implements RunPort {
  readonly #calls: RunPort;

  constructor(calls: RunPort) {
    super();
    this.#calls = calls;
  }

  async keep(checkpoints: StoredCheckpoint[]): Promise<void> {
    await this.#calls.keep(checkpoints);
  }

  async end(end: RunEnd): Promise<void> {
    await this.#calls.end(end);
  }

  async trace(runs: TracedRun[]): Promise<void> {
    await this.#calls.trace(runs);
  }
}
