import type { CheckpointOp, RunBatch, RunEvent, RunPort } from "./protocol.ts";

/** How long output may wait for company when nobody reads the stream. */
const COMMIT_DELAY_MS = 20;

/** Past this much unwritten output the graph waits for the storage. */
const MAX_PENDING_BYTES = 1024 * 1024;

/** The thread no longer wants this attempt's output: another attempt, or a deletion, took over. */
export class SupersededError extends Error {
  override readonly name = "SupersededError";
}

/**
 * Collects what a run produces and hands it to the thread in group commits: one commit is in flight
 * at a time, and all that arrives meanwhile goes out with the next. With a reader a commit starts at
 * once, without one it waits COMMIT_DELAY_MS, so that a short run is written in one transaction.
 */
export class RunJournal {
  readonly #port: Pick<RunPort, "commit">;
  readonly #onSuperseded: (reason: SupersededError) => void;
  #follow: boolean;
  #pending: RunBatch = { checkpoints: [], events: [] };
  #pendingBytes = 0;
  #flight: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #failure: SupersededError | null = null;
  #closed = false;

  constructor(
    port: Pick<RunPort, "commit">,
    options: { follow: boolean; onSuperseded: (reason: SupersededError) => void },
  ) {
    this.#port = port;
    this.#follow = options.follow;
    this.#onSuperseded = options.onSuperseded;
  }

  event(event: RunEvent): void {
    this.#pending.events.push(event);
    this.#added(event.data.length);
  }

  checkpoint(op: CheckpointOp): void {
    this.#pending.checkpoints.push(op);
    this.#added(sizeOf(op));
  }

  /** Resolves at once while little is pending; otherwise when the storage has caught up. */
  async relief(): Promise<void> {
    while (this.#pendingBytes > MAX_PENDING_BYTES && !this.#closed) await this.flush();
  }

  /** All that was added before is durable when this resolves. Throws when a commit failed. */
  async flush(): Promise<void> {
    await this.#flight;
    if (this.#failure) throw this.#failure;
    if (!isEmpty(this.#pending)) await this.#commit();
    if (this.#failure) throw this.#failure;
  }

  /** Ends the journal: what is still pending becomes the run's last batch, later output is dropped. */
  async close(): Promise<RunBatch> {
    await this.#flight;
    if (this.#failure) throw this.#failure;
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    return this.#take();
  }

  #added(bytes: number): void {
    if (this.#closed) return;
    this.#pendingBytes += bytes;
    if (this.#flight === null && this.#timer === null) this.#schedule();
  }

  #schedule(): void {
    const delay = this.#follow || this.#pendingBytes > MAX_PENDING_BYTES ? 0 : COMMIT_DELAY_MS;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#commit();
    }, delay);
  }

  #take(): RunBatch {
    const batch = this.#pending;
    this.#pending = { checkpoints: [], events: [] };
    this.#pendingBytes = 0;
    return batch;
  }

  async #commit(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#flight !== null) return this.#flight;
    const batch = this.#take();
    if (isEmpty(batch)) return;
    this.#flight = this.#send(batch);
    await this.#flight;
    this.#flight = null;
    if (!isEmpty(this.#pending) && !this.#closed && this.#failure === null) this.#schedule();
  }

  /** Never rejects: a failure is kept and thrown to whoever waits next. */
  async #send(batch: RunBatch): Promise<void> {
    try {
      const ack = await this.#port.commit(batch);
      if (ack.ok) {
        this.#follow = ack.follow;
        return;
      }
      this.#failure = new SupersededError("This attempt of the run was superseded");
    } catch (error) {
      this.#failure = new SupersededError("The thread is gone", { cause: error });
    }
    this.#onSuperseded(this.#failure);
  }
}

function isEmpty(batch: RunBatch): boolean {
  return batch.events.length === 0 && batch.checkpoints.length === 0;
}

function sizeOf(op: CheckpointOp): number {
  if ("writes" in op) {
    return op.writes.writes.reduce((sum, [, , value]) => sum + value[1].byteLength, 0);
  }
  const { checkpoint, metadata, channels } = op.put;
  return channels.reduce(
    (sum, [, value]) => sum + value[1].byteLength,
    checkpoint[1].byteLength + metadata[1].byteLength,
  );
}
