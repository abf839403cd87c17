import type { ThreadSnapshot, WireCheckpoint } from "../../../graph-runtime/protocol.ts";
import { EventFrames } from "../storage/event-frames.ts";
import type { RunRow } from "../storage/run-row.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { ThreadPlace, ThreadStreamQuery } from "../contract/thread-requests.ts";
import { type RunStreams, WHOLE_THREAD } from "./run-streams.ts";
import { ThreadReader, type ThreadReaderDeps } from "./thread-reader.ts";

/**
 * Number of turns behind after which a reader is disconnected, because the events that it has to read are deleted.
 */
const MAX_TURNS_BEHIND = 100;

/** Maximum number of runs whose encoded events are kept for all readers; they usually read the newest run. */
const MAX_FRAMES = 4;

const NOTHING: ThreadPlace = { turn: 0, event: -1 };

type ThreadStreamDeps = {
  storage: ThreadStorage;
  streams: RunStreams;
  now: () => number;
  /** Milliseconds for which turns are kept for readers that reconnect. */
  retentionMs: number;
};

/**
 * The readers of a thread across all its runs. Turns are recorded while there are readers, and for a while after
 * the last one has left; a thread without readers has no cost.
 */
export class ThreadStream {
  readonly #deps: ThreadStreamDeps;
  readonly #storage: ThreadStorage;
  readonly #readers = new Set<ThreadReader>();
  readonly #frames = new Map<number, EventFrames>();
  /** The time until which the thread is treated as followed while it has no readers. Null before it is known. */
  #followedUntil: number | null = null;
  /** Updates that may not be on disk yet. */
  readonly #held = new Set<number>();

  constructor(deps: ThreadStreamDeps) {
    this.#deps = deps;
    this.#storage = deps.storage;
  }

  /** Whether the thread has readers, or had some until a short while ago. */
  isFollowed(): boolean {
    if (this.#readers.size > 0) return true;
    // After a crash the readers reconnect.
    this.#followedUntil ??= this.#storage.turns.isEmpty() ? 0 : this.#later();
    return this.#deps.now() < this.#followedUntil;
  }

  /** Returns when the recorded turns must be checked for expiry; null if there are none. */
  nextDue(): number | null {
    if (this.#readers.size > 0) return this.#later();
    const until = this.#followedUntil ?? 0;
    return until > this.#deps.now() ? until : null;
  }

  /** Must be called when a run starts or is retried, in the transaction that marks it. */
  begin(run: RunRow): void {
    if (this.isFollowed()) this.#storage.turns.addRun(run.seq, this.#deps.now());
  }

  /** Must be called when the state was updated outside of a run, in the transaction that updated it. */
  update(checkpoint: WireCheckpoint, { values, next, interrupts }: ThreadSnapshot): void {
    if (!this.isFollowed()) return;
    const { turns, texts, thread } = this.#storage;
    const id = turns.addUpdate(this.#deps.now());
    const rest = JSON.stringify({ next, checkpoint, interrupts });
    const state = `{"values":${values ?? "null"},${rest.slice(1)}`;
    const thread_id = JSON.stringify(thread.get().thread_id);
    texts.set(updateName(id), `{"thread_id":${thread_id},"state":${state}}`);
    this.#held.add(id);
    void this.#showWhenDurable(id);
  }

  /** Whether a reader still has to read the run's events, and is not too far behind. */
  holds(run: RunRow): boolean {
    if (this.#readers.size === 0) return false;
    const turn = this.#storage.turns.ofRun(run.seq)?.id;
    const newest = this.#storage.turns.newest()?.id ?? 0;
    if (turn === undefined || newest - turn >= MAX_TURNS_BEHIND) return false;
    return [...this.#readers].some((reader) => reader.needs(turn));
  }

  open(query: ThreadStreamQuery): ReadableStream<Uint8Array> {
    const { storage, streams } = this.#deps;
    storage.transaction(() => storage.turns.addKeptRuns(this.#deps.now()));
    const place = this.#placeOf(query.last_event_id);
    const reader = new ThreadReader(this.#readerDeps(), { place, modes: query.modes });
    this.#readers.add(reader);
    return streams.thread({
      read: () => reader.next(),
      hasEnded: () => reader.isLost,
      onLeave: () => this.#leave(reader),
    });
  }

  /** Must be called when there may be more in the logs of runs. */
  logChanged(): void {
    for (const reader of this.#readers) reader.logChanged();
  }

  /** Deletes turns that no reader can resume from any longer. Must be called in a transaction. */
  expire(): void {
    const now = this.#deps.now();
    const { turns, texts } = this.#storage;
    const before = this.isFollowed() ? now - this.#deps.retentionMs : now;
    for (const id of turns.deleteOld(before)) texts.delete(updateName(id));
  }

  #leave(reader: ThreadReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    this.#frames.clear();
    this.#followedUntil = this.#later();
  }

  #later(): number {
    return this.#deps.now() + this.#deps.retentionMs;
  }

  #placeOf(asked: ThreadStreamQuery["last_event_id"]): ThreadPlace {
    if (asked === "beginning") return NOTHING;
    if (asked !== null) return asked;
    const newest = this.#storage.turns.newest();
    if (newest === null) return NOTHING;
    const { id: turn, run_seq } = newest;
    if (run_seq === null || this.#deps.streams.isOver(run_seq)) return { turn, event: Infinity };
    return { turn, event: this.#storage.log.nextId(run_seq) - 1 };
  }

  #readerDeps(): ThreadReaderDeps {
    const { storage, streams } = this.#deps;
    return {
      turns: storage.turns,
      runs: storage.runs,
      framesOf: (turn, runSeq) => this.#framesOf(turn, runSeq),
      updateOf: (turn) => storage.texts.get(updateName(turn)),
      isShown: (turn) => !this.#held.has(turn),
      firstHeld: (runSeq) => streams.firstHeld(runSeq),
      isOver: (runSeq) => streams.isOver(runSeq),
    };
  }

  #framesOf(turn: number, runSeq: number): EventFrames {
    const known = this.#frames.get(turn);
    if (known !== undefined) return known;
    const frames = new EventFrames(this.#storage.log, runSeq, `${turn}-`);
    this.#frames.set(turn, frames);
    const [oldest] = this.#frames.keys();
    if (this.#frames.size > MAX_FRAMES && oldest !== undefined) this.#frames.delete(oldest);
    return frames;
  }

  async #showWhenDurable(id: number): Promise<void> {
    await this.#storage.durable();
    this.#held.delete(id);
    this.#deps.streams.wake(WHOLE_THREAD);
  }
}

/** Returns the name of the stored text that holds what readers get about an update. */
function updateName(turn: number): string {
  return `update:${turn}`;
}
