import type { ThreadPlace, ThreadStreamMode } from "../contract/thread-requests.ts";
import { encodeEvent, type EventFrames, FrameReader } from "../storage/event-frames.ts";
import type { RunTable } from "../storage/run-table.ts";
import type { ThreadTurn, TurnTable } from "../storage/turn-table.ts";

export type ThreadReaderDeps = {
  turns: TurnTable;
  runs: RunTable;
  /** Returns the events of a run, encoded once for all readers of the thread. */
  framesOf: (turn: number, runSeq: number) => EventFrames;
  /** Returns the JSON text of an update; null if it no longer exists, or must not be shown yet. */
  updateOf: (turn: number) => string | null;
  isShown: (turn: number) => boolean;
  firstHeld: (runSeq: number) => number;
  isOver: (runSeq: number) => boolean;
};

type Current = {
  turn: number;
  runSeq: number;
  events: EventFrames;
  frames: FrameReader;
  /** The last event that the reader had before; null if it reads the turn from the beginning. */
  resumedAfter: number | null;
};

/** Yields what one reader of a thread gets: one run after the other, each from its first event to its end. */
export class ThreadReader {
  readonly #deps: ThreadReaderDeps;
  readonly #modes: ReadonlySet<ThreadStreamMode>;
  #place: ThreadPlace;
  #current: Current | null = null;
  /** Whether the reader has joined, so that no turn may be missing from here on. */
  #isLive: boolean;
  #isLost = false;

  constructor(
    deps: ThreadReaderDeps,
    options: { place: ThreadPlace; modes: readonly ThreadStreamMode[] },
  ) {
    this.#deps = deps;
    this.#modes = new Set(options.modes);
    this.#place = options.place;
    const turn = deps.turns.get(options.place.turn);
    this.#isLive = turn !== null;
    if (turn !== null) this.#enter(turn, options.place.event, { isResumed: true });
  }

  /** Whether the next events no longer exist, because the reader was too slow. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether the reader still has to read the turn. */
  needs(turn: number): boolean {
    return turn > this.#place.turn || turn === this.#current?.turn;
  }

  /** Must be called when there may be more events of the run that is being read. */
  logChanged(): void {
    this.#current?.events.logChanged();
  }

  /** Returns the next bytes; empty if the examined events do not concern the reader, null if there are none. */
  next(): Uint8Array | null {
    if (this.#isLost) return null;
    if (this.#current !== null) return this.#read(this.#current);
    const turn = this.#deps.turns.next(this.#place.turn);
    if (turn === null || !this.#deps.isShown(turn.id)) return null;
    if (this.#isLive && turn.id > this.#place.turn + 1) {
      this.#isLost = true;
      return null;
    }
    this.#enter(turn, -1, { isResumed: !this.#isLive });
    this.#isLive = true;
    if (turn.run_seq !== null) return new Uint8Array(0);
    const data = this.#modes.has("state_update") ? this.#deps.updateOf(turn.id) : null;
    return data === null ? new Uint8Array(0) : encodeEvent("state_update", data, `${turn.id}-0`);
  }

  #enter({ id, run_seq }: ThreadTurn, after: number, { isResumed }: { isResumed: boolean }): void {
    this.#place = { turn: id, event: after };
    if (run_seq === null || !this.#showsRuns()) return;
    const events = this.#deps.framesOf(id, run_seq);
    const frames = new FrameReader(events, {
      after,
      accept: this.#modes.has("run_modes") ? null : (event) => event === "metadata",
    });
    this.#current = {
      turn: id,
      runSeq: run_seq,
      events,
      frames,
      resumedAfter: isResumed ? after : null,
    };
  }

  #read({ turn, runSeq, frames, resumedAfter }: Current): Uint8Array | null {
    // Checked before reading: events that are written in between are still read, and never skipped.
    const isOver = this.#deps.isOver(runSeq);
    const bytes = frames.next(this.#deps.firstHeld(runSeq));
    if (bytes !== null || !isOver) return bytes;
    this.#current = null;
    const run = this.#deps.runs.ofSeq(runSeq);
    // A run that was rolled back has no more events, and no end.
    if (run === null || this.#place.event >= run.next_event) return new Uint8Array(0);
    // A reader that reconnects late gets what is kept, but a connected reader must not miss anything without notice.
    if (frames.place < run.next_event - 1 && frames.place !== resumedAfter) {
      this.#isLost = true;
      return null;
    }
    const { run_id, status } = run;
    const done = JSON.stringify({ status: "run_done", run_id, run_status: status });
    return encodeEvent("metadata", done, `${turn}-${run.next_event}`);
  }

  #showsRuns(): boolean {
    return this.#modes.has("run_modes") || this.#modes.has("lifecycle");
  }
}
