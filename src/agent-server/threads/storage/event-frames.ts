import { isProtocolEntry } from "../../../graph-runtime/stream-protocol/protocol-event.ts";
import { concatBytes } from "../../../lib/bytes.ts";

/** Maximum bytes of encoded events that are kept for readers to share; a single event may be larger. */
const KEPT_BYTES = 1024 * 1024;

/** Maximum bytes that a reader is given at once, so that a large event is in memory once for all readers. */
const CHUNK_BYTES = 64 * 1024;

const NOTHING = new Uint8Array(0);

/** `at` is the time at which it was logged, in epoch milliseconds; null for events of an earlier release. */
export type LoggedEvent = { id: number; event: string; data: string; at: number | null };

/** Reads a page of events after `after` and before `before`, the oldest first. */
type Log = { read: (runSeq: number, after: number, before: number) => LoggedEvent[] };

/** An event as it is sent to readers. */
type Frame = { id: number; event: string; bytes: Uint8Array };

/**
 * The newest events of a run, encoded. Each is read from the log and encoded once for all readers that keep up. A
 * reader that is further behind reads the log by itself.
 */
export class EventFrames {
  readonly #log: Log;
  readonly #runSeq: number;
  /** The kept events without gaps, the oldest first. */
  #kept: Frame[] = [];
  #bytes = 0;
  readonly #idPrefix: string;
  /** Whether the log had nothing after the last frame. */
  #isAtEnd = false;

  /** Event ids are sent to readers with the prefix in front. */
  constructor(log: Log, runSeq: number, idPrefix = "") {
    this.#log = log;
    this.#runSeq = runSeq;
    this.#idPrefix = idPrefix;
  }

  /** Must be called when the log may contain more than when it was last read. */
  logChanged(): void {
    this.#isAtEnd = false;
  }

  /**
   * Returns some events after `after` and before `before`, the oldest first; an empty list only if there are none.
   */
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

/** One reader's position in the events of a run. */
export class FrameReader {
  readonly #frames: EventFrames;
  readonly #accept: ((event: string) => boolean) | null;
  /** The id of the latest event of which the reader has got at least a part. */
  #after: number;
  /** The remaining bytes of that event. */
  #rest: Uint8Array = NOTHING;

  /** The id of the latest event that was examined. */
  get place(): number {
    return this.#after;
  }

  /**
   * `after` is the last event id that the reader has, -1 for none; if `accept` is null, all events of the run's
   * modes pass.
   */
  constructor(
    frames: EventFrames,
    options: { after: number; accept: ((event: string) => boolean) | null },
  ) {
    this.#frames = frames;
    this.#after = options.after;
    this.#accept = options.accept;
  }

  /**
   * Returns the next bytes from events before `before`; other readers may get the same buffer. Empty if none of
   * the examined events concerns the reader; null if there are none.
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

/**
 * JSON text has no line breaks, so it fits one `data` line. Line breaks in names, which come from graph code, are
 * removed.
 */
function toFrame({ id, event, data }: LoggedEvent, idPrefix: string): Frame {
  return { id, event, bytes: encodeEvent(event, data, `${idPrefix}${id}`) };
}

export function encodeEvent(event: string, data: string, id: string): Uint8Array {
  const name = event.replace(/[\r\n]/g, "");
  return new TextEncoder().encode(`event: ${name}\ndata: ${data}\nid: ${id}\n\n`);
}

/**
 * Whether an event belongs to one of the modes. `messages-tuple` and the legacy `messages` share a name; control
 * events always belong.
 */
export function isOfModes(event: string, modes: readonly string[]): boolean {
  const name = event.split(/[|/]/, 1)[0] ?? event;
  if (name === "metadata" || name === "error") return true;
  return modes.includes(name) || (name === "messages" && modes.includes("messages-tuple"));
}
