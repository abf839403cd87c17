import type { ThreadSnapshot, WireCheckpoint } from "../../../graph-runtime/protocol.ts";
import { EventFrames } from "../storage/event-frames.ts";
import type { RunRow } from "../storage/run-row.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { ThreadPlace, ThreadStreamQuery } from "../contract/thread-requests.ts";
import { type RunStreams, WHOLE_THREAD } from "./run-streams.ts";
import { ThreadReader, type ThreadReaderDeps } from "./thread-reader.ts";

/** A reader that is so many turns behind is cut off: what it has still to read is not kept any longer. */
const MAX_TURNS_BEHIND = 100;

/** Runs whose encoded events are held for all readers; mostly they read the newest one. */
const MAX_FRAMES = 4;

const NOTHING: ThreadPlace = { turn: 0, event: -1 };

type ThreadStreamDeps = {
  storage: ThreadStorage;
  streams: RunStreams;
  now: () => number;
  /** How long what happened is kept for those who come back. */
  retentionMs: number;
};

/**
 * Those who follow a thread over all its runs. What they are shown is noted while somebody does, and for a while after
 * the last one has left; a thread that nobody follows pays nothing for it.
 */
export class ThreadStream {
  readonly #deps: ThreadStreamDeps;
  readonly #storage: ThreadStorage;
  readonly #readers = new Set<ThreadReader>();
  readonly #frames = new Map<number, EventFrames>();
  /** While nobody follows the thread: until when it is treated as followed. Null before that is known. */
  #followedUntil: number | null = null;
  /** Updates that may not be on disk yet. */
  readonly #held = new Set<number>();

  constructor(deps: ThreadStreamDeps) {
    this.#deps = deps;
    this.#storage = deps.storage;
  }

  /** Somebody follows the thread, or has until a while ago. */
  isFollowed(): boolean {
    if (this.#readers.size > 0) return true;
    // After a crash those who followed it come back.
    this.#followedUntil ??= this.#storage.turns.isEmpty() ? 0 : this.#later();
    return this.#deps.now() < this.#followedUntil;
  }

  /** When what was noted is to be looked at; null when nothing was. */
  nextDue(): number | null {
    if (this.#readers.size > 0) return this.#later();
    const until = this.#followedUntil ?? 0;
    return until > this.#deps.now() ? until : null;
  }

  /** A run begins, or is begun again. In the transaction that marks it. */
  begin(run: RunRow): void {
    if (this.isFollowed()) this.#storage.turns.addRun(run.seq, this.#deps.now());
  }

  /** The state was updated from outside of a run. In the transaction that did. */
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

  /** Some reader has still to read the run's events, and is not too far behind. */
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

  /** There may be more in the logs of runs. */
  logChanged(): void {
    for (const reader of this.#readers) reader.logChanged();
  }

  /** Deletes what nobody comes back for. In a transaction. */
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

/** The name of the text that holds what followers are told of an update. */
function updateName(turn: number): string {
  return `update:${turn}`;
}
