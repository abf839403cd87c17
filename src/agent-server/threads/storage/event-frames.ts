import { isProtocolEntry } from "../../../graph-runtime/stream-protocol/protocol-event.ts";
import { concatBytes } from "../../../lib/bytes.ts";

/** How many encoded events are kept for readers to share; a single event may be larger. */
const KEPT_BYTES = 1024 * 1024;

/** How much a reader is given at once, so that a large event is in memory once for all readers. */
const CHUNK_BYTES = 64 * 1024;

const NOTHING = new Uint8Array(0);

/** `at` is when it was logged, in epoch milliseconds; null for events of an earlier release. */
export type LoggedEvent = { id: number; event: string; data: string; at: number | null };

/** Gives events after `after` and before `before`, oldest first, a page at a time. */
type Log = { read: (runSeq: number, after: number, before: number) => LoggedEvent[] };

/** An event as readers get it. */
type Frame = { id: number; event: string; bytes: Uint8Array };

/**
 * The newest events of a run, encoded: each is read from the log and encoded once for all readers that
 * keep up. A reader that is further behind reads from the log by itself.
 */
export class EventFrames {
  readonly #log: Log;
  readonly #runSeq: number;
  /** Without gaps, the oldest first. */
  #kept: Frame[] = [];
  #bytes = 0;
  readonly #idPrefix: string;
  /** The log has had nothing after the last frame. */
  #isAtEnd = false;

  /** Readers are shown the ids of events behind the prefix. */
  constructor(log: Log, runSeq: number, idPrefix = "") {
    this.#log = log;
    this.#runSeq = runSeq;
    this.#idPrefix = idPrefix;
  }

  /** There may be more in the log than when it was last read. */
  logChanged(): void {
    this.#isAtEnd = false;
  }

  /** Events after `after` and before `before`, oldest first; some of them, none when there are none. */
  read(after: number, before: number): readonly Frame[] {
    const first = this.#kept[0];
    const last = this.#kept.at(-1);
    if (first !== undefined && last !== undefined) {
      if (after + 1 >= first.id && after < last.id) return this.#kept.slice(after + 1 - first.id);
      if (after === last.id && this.#isAtEnd) return [];
    }
    const page = this.#log
      .read(this.#runSeq, after, before)
      .map((logged) => toFrame(logged, this.#idPrefix));
    if (last === undefined || after >= last.id) this.#keep(page);
    this.#isAtEnd = page.length === 0 && after === last?.id;
    return page;
  }

  #keep(page: readonly Frame[]): void {
    const [first] = page;
    if (first === undefined) return;
    if (first.id !== (this.#kept.at(-1)?.id ?? -1) + 1) {
      this.#kept = [];
      this.#bytes = 0;
    }
    for (const frame of page) {
      this.#kept.push(frame);
      this.#bytes += frame.bytes.byteLength;
    }
    let dropped = 0;
    while (this.#bytes > KEPT_BYTES && dropped < this.#kept.length - 1) {
      this.#bytes -= this.#kept[dropped]?.bytes.byteLength ?? 0;
      dropped += 1;
    }
    this.#kept.splice(0, dropped);
  }
}

/** One reader's place in the events of a run. */
export class FrameReader {
  readonly #frames: EventFrames;
  readonly #accept: ((event: string) => boolean) | null;
  /** The id of the event that was begun last. */
  #after: number;
  /** What is left of that event. */
  #rest: Uint8Array = NOTHING;

  /** The id of the last event that was looked at. */
  get place(): number {
    return this.#after;
  }

  /** `after` is the last event id that the reader has, -1 for none; an `accept` of null passes every event of the run's modes. */
  constructor(
    frames: EventFrames,
    options: { after: number; accept: ((event: string) => boolean) | null },
  ) {
    this.#frames = frames;
    this.#after = options.after;
    this.#accept = options.accept;
  }

  /**
   * The next bytes from events before `before`; other readers may be given the same buffer. Empty when
   * all events that were looked at are of no interest to the reader; null when there are none.
   */
  next(before: number): Uint8Array | null {
    const parts: Uint8Array[] = [];
    let size = 0;
    const take = (): void => {
      const part = this.#rest.subarray(0, CHUNK_BYTES - size);
      this.#rest = this.#rest.subarray(part.byteLength);
      if (part.byteLength > 0) parts.push(part);
      size += part.byteLength;
    };
    take();
    if (size === CHUNK_BYTES) return concatBytes(parts);
    const page = this.#frames.read(this.#after, before);
    for (const { id, event, bytes } of page) {
      this.#after = id;
      if (isProtocolEntry(event) || this.#accept?.(event) === false) continue;
      this.#rest = bytes;
      take();
      if (size === CHUNK_BYTES) break;
    }
    return page.length === 0 && size === 0 ? null : concatBytes(parts);
  }
}

/** JSON text has no line breaks, so one `data` line holds it. Names come from graph code. */
function toFrame({ id, event, data }: LoggedEvent, idPrefix: string): Frame {
  return { id, event, bytes: encodeEvent(event, data, `${idPrefix}${id}`) };
}

export function encodeEvent(event: string, data: string, id: string): Uint8Array {
  const name = event.replace(/[\r\n]/g, "");
  return new TextEncoder().encode(`event: ${name}\ndata: ${data}\nid: ${id}\n\n`);
}

/** Whether an event belongs to one of the modes. `messages-tuple` and legacy `messages` share a name; control events pass. */
export function isOfModes(event: string, modes: readonly string[]): boolean {
  const name = event.split(/[|/]/, 1)[0] ?? event;
  if (name === "metadata" || name === "error") return true;
  return modes.includes(name) || (name === "messages" && modes.includes("messages-tuple"));
}
