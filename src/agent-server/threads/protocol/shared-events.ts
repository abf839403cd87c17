import { EventCursor, type CursorStep, type ThreadLog } from "./event-cursor.ts";
import { type EventFilter, isWanted } from "./event-filter.ts";
import type { ProtocolFrame } from "./event-frame.ts";

/** Maximum characters of encoded events that are kept for readers to share; a single event may be larger. */
const KEPT_CHARS = 1024 * 1024;

/** Number of events that are counted before other work of the object has its turn. */
const COUNTED_IN_A_TURN = 2000;

const NONE: ProtocolFrame[] = [];

const AT_END: CursorStep = { frames: NONE, more: false };

/**
 * The newest events of a thread. Each is translated and encoded once for all readers that keep up. A reader that
 * is further behind reads the log by itself.
 */
export class SharedEvents {
  readonly #log: ThreadLog;
  #head: EventCursor | null = null;
  /** The kept events, without gaps from the one after `#from` on. */
  #frames: ProtocolFrame[] = NONE;
  #from = 0;
  #chars = 0;
  /** Whether the log had nothing after the last frame. */
  #isAtEnd = false;

  constructor(log: ThreadLog) {
    this.#log = log;
  }

  /** Returns a reader's position, from which it gets the events after this number. */
  placeAfter(after: number): EventPlace {
    return new EventPlace(this, after);
  }

  /** Returns the number of events that match the filter, after `after` and up to `until`. */
  async count(filter: EventFilter, after: number, until: number): Promise<number> {
    const place = this.placeAfter(after);
    let count = 0;
    for (let looked = 1; ; looked += 1) {
      const taken = place.take();
      if (taken === "none" || taken === "gone") return count;
      if (taken !== "more") {
        if (taken.seq > until) return count;
        if (isWanted(taken, filter)) count += 1;
      }
      if (looked % COUNTED_IN_A_TURN === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }

  /** Must be called when the log may contain more than when it was last read. */
  logChanged(): void {
    this.#isAtEnd = false;
  }

  /** Drops the kept events, when there are no readers. */
  clear(): void {
    this.#head = null;
    this.#frames = NONE;
    this.#chars = 0;
    this.#isAtEnd = false;
  }

  /** Returns the events after `after`, from the reader's own cursor if the kept events do not reach back that far. */
  read(after: number, own: EventCursor | null): { step: CursorStep; own: EventCursor | null } {
    if (this.#head === null) {
      this.#head = new EventCursor(this.#log, after);
      this.#from = after;
    }
    if (after < this.#from) {
      const cursor = own ?? new EventCursor(this.#log, after);
      return { step: cursor.advance(), own: cursor };
    }
    const index = this.#indexAfter(after);
    if (index < this.#frames.length) {
      return { step: { frames: this.#frames.slice(index), more: true }, own: null };
    }
    if (this.#isAtEnd) return { step: AT_END, own: null };
    const step = this.#head.advance();
    if (step === null) this.clear();
    else this.#keep(step.frames);
    this.#isAtEnd = step !== null && step.frames.length === 0 && !step.more;
    return { step, own: null };
  }

  #indexAfter(after: number): number {
    let low = 0;
    let high = this.#frames.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#frames[middle]?.seq ?? 0) > after) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #keep(frames: readonly ProtocolFrame[]): void {
    if (frames.length === 0) return;
    if (this.#frames === NONE) this.#frames = [];
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#chars += frame.text.length;
    }
    let dropped = 0;
    while (this.#chars > KEPT_CHARS && dropped < this.#frames.length - 1) {
      const frame = this.#frames[dropped];
      this.#chars -= frame?.text.length ?? 0;
      this.#from = frame?.seq ?? this.#from;
      dropped += 1;
    }
    this.#frames.splice(0, dropped);
  }
}

/** The position of one reader in the events of a thread. */
export class EventPlace {
  readonly #shared: SharedEvents;
  #after: number;
  #own: EventCursor | null = null;
  #page: readonly ProtocolFrame[] = NONE;
  #index = 0;

  constructor(shared: SharedEvents, after: number) {
    this.#shared = shared;
    this.#after = after;
  }

  /** The number of the last event that was taken. */
  get after(): number {
    return this.#after;
  }

  /**
   * Takes the next event. Returns "more" if there is none yet, but asking again may yield one; "none" if there is
   * nothing now; "gone" if the next events are no longer kept.
   */
  take(): ProtocolFrame | "more" | "none" | "gone" {
    for (;;) {
      const frame = this.#page[this.#index];
      if (frame === undefined) break;
      this.#index += 1;
      if (frame.seq <= this.#after) continue;
      this.#after = frame.seq;
      return frame;
    }
    const { step, own } = this.#shared.read(this.#after, this.#own);
    this.#own = own;
    if (step === null) return "gone";
    this.#page = step.frames;
    this.#index = 0;
    return step.more ? "more" : "none";
  }
}
