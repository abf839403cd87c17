import type { CommitAck, RunBatch } from "../../../graph-runtime/protocol.ts";
import type { RunRow } from "../storage/run-row.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { RunStreams } from "./run-streams.ts";

/**
 * Between two commits of a run whose events are stored: what comes meanwhile is one row. A reader sees an event that much
 * later, but for the first after a pause.
 */
const STORED_REST_MS = 120;

export type RunOutputDeps = { storage: ThreadStorage; streams: RunStreams; now: () => number };

/** What a run writes while it runs: checkpoints and events, which readers see when they are on disk. */
export class RunOutput {
  readonly #storage: ThreadStorage;
  readonly #streams: RunStreams;
  readonly #now: () => number;

  constructor({ storage, streams, now }: RunOutputDeps) {
    this.#storage = storage;
    this.#streams = streams;
    this.#now = now;
  }

  /** Stores what the run's host has gathered; the answer says how it is to go on. */
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

  /** Adds events, which readers do not see before `release`. In a transaction. */
  append(run: RunRow, events: RunBatch["events"]): void {
    const { log } = this.#storage;
    const first = log.nextId(run.seq);
    const stored = this.#streams.storesEvents(run);
    const end = log.append(run.seq, events, { now: this.#now(), stored });
    this.#streams.hold(run.seq, first, end);
  }

  /** Shows readers what there is by now, as soon as it is on disk. */
  async release(run: RunRow): Promise<void> {
    const end = this.#storage.log.nextId(run.seq);
    await this.#storage.durable();
    this.#streams.release(run.seq, end);
  }
}
