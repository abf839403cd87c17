import { MAX_MESSAGE_BYTES, messageBytes, requireMessageSize } from "./message-size.ts";
import type { RunBatch, RunEvent, RunPort } from "./protocol.ts";
import type { CheckpointOp } from "./checkpoint-port.ts";

/** How long output may wait for more output, in milliseconds, when no client reads the stream. */
const COMMIT_DELAY_MS = 20;

/** When more bytes than this are unwritten, the graph waits for the storage. */
const MAX_PENDING_BYTES = 1024 * 1024;

/**
 * Thrown when the thread no longer accepts this attempt's output, because another attempt or a deletion took
 * over.
 */
export class SupersededError extends Error {
  override readonly name = "SupersededError";
}

type Entry = { bytes: number } & ({ op: CheckpointOp } | { event: RunEvent });

/**
 * Collects what a run produces and hands it to the thread in group commits. One commit is in flight at a
 * time, and everything that arrives meanwhile goes out with the next. While a client reads the stream, the
 * next commit starts once the storage has rested for as long as the last commit took (COMMIT_DELAY_MS at
 * most), or for the time that the thread asked for, so that a busy machine makes fewer and larger commits.
 * Without a reader it waits COMMIT_DELAY_MS, so that a short run is one transaction.
 */
export class RunJournal {
  readonly #port: Pick<RunPort, "commit">;
  readonly #onSuperseded: (reason: SupersededError) => void;
  #follow: boolean;
  #pending: Entry[] = [];
  #pendingBytes = 0;
  #flight: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #scheduled = false;
  #restUntil = 0;
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
    this.#add({ event, bytes: messageBytes(event.data) });
  }

  checkpoint(op: CheckpointOp): void {
    this.#add({ op, bytes: sizeOf(op) });
  }

  /** Resolves at once while little is pending; otherwise when the storage has caught up. */
  async relief(): Promise<void> {
    while (this.#pendingBytes > MAX_PENDING_BYTES && !this.#closed) await this.flush();
  }

  /** Resolves when everything that was added before is durable. Throws when a commit failed. */
  async flush(): Promise<void> {
    await this.#flight;
    // There is more than one batch when one call cannot carry everything.
    while (this.#failure === null && this.#pending.length > 0) await this.#commit();
    if (this.#failure) throw this.#failure;
  }

  /** Ends the journal and returns what is still pending as the run's last batch. Later output is dropped. */
  async close(): Promise<RunBatch> {
    // From here on no commit starts by itself: it could arrive after the run's end, which the caller is about
    // to send.
    this.#closed = true;
    await this.#flight;
    while (this.#failure === null && this.#pendingBytes > MAX_PENDING_BYTES) await this.#commit();
    if (this.#failure) throw this.#failure;
    if (this.#timer !== null) clearTimeout(this.#timer);
    return this.#take();
  }

  #add(entry: Entry): void {
    if (this.#closed) return;
    requireMessageSize(entry.bytes);
    this.#pending.push(entry);
    this.#pendingBytes += entry.bytes;
    if (this.#flight === null && !this.#scheduled) this.#schedule();
  }

  #schedule(): void {
    const urgent = this.#follow || this.#pendingBytes > MAX_PENDING_BYTES;
    const delay = urgent ? this.#restUntil - Date.now() : COMMIT_DELAY_MS;
    this.#scheduled = true;
    const commit = (): void => {
      this.#timer = null;
      this.#scheduled = false;
      if (!this.#closed) void this.#commit();
    };
    // A timer takes at least a millisecond; a microtask still gathers what this turn produces.
    if (delay <= 0) queueMicrotask(commit);
    else this.#timer = setTimeout(commit, delay);
  }

  /** Removes and returns the oldest pending entries, as many as one call can carry. */
  #take(): RunBatch {
    const batch: RunBatch = { checkpoints: [], events: [] };
    let bytes = 0;
    let taken = 0;
    for (const entry of this.#pending) {
      if (taken > 0 && bytes + entry.bytes > MAX_MESSAGE_BYTES) break;
      if ("op" in entry) batch.checkpoints.push(entry.op);
      else batch.events.push(entry.event);
      bytes += entry.bytes;
      taken += 1;
    }
    this.#pending = this.#pending.slice(taken);
    this.#pendingBytes -= bytes;
    return batch;
  }

  async #commit(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#scheduled = false;
    if (this.#flight !== null) return this.#flight;
    if (this.#pending.length === 0) return;
    this.#flight = this.#send(this.#take());
    await this.#flight;
    this.#flight = null;
    if (this.#pending.length > 0 && !this.#closed && this.#failure === null && !this.#scheduled) {
      this.#schedule();
    }
  }

  /** Sends a batch. Never rejects: a failure is kept and thrown to the next caller of `flush` or `close`. */
  async #send(batch: RunBatch): Promise<void> {
    const startedAt = Date.now();
    try {
      const ack = await this.#port.commit(batch);
      const endedAt = Date.now();
      const restMs = Math.min(endedAt - startedAt, COMMIT_DELAY_MS);
      if (ack.ok) {
        this.#follow = ack.follow;
        this.#restUntil = Math.max(endedAt + restMs, startedAt + (ack.rest_ms ?? 0));
        return;
      }
      this.#failure = new SupersededError("This attempt of the run was superseded");
    } catch (error) {
      this.#failure = new SupersededError("The thread is gone", { cause: error });
    }
    this.#onSuperseded(this.#failure);
  }
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
