import { concatBytes } from "../../../lib/bytes.ts";
import { type EventFilter, isWanted } from "./event-filter.ts";
import type { EventPlace } from "./shared-events.ts";

/** Proxies and clients give up on silent connections. */
const HEARTBEAT_MS = 5000;

/** A reader that has taken nothing for so long, though there is something for it, is cut off. */
export const SLOW_READER_MS = 60_000;

/** How much a reader is given at once; a single event may be larger. */
const CHUNK_BYTES = 64 * 1024;

/** How many events are looked at for one reader before others have their turn. */
export const EVENTS_IN_A_TURN = 2000;

const HEARTBEAT = new TextEncoder().encode(": heartbeat\n");

type Reader = {
  place: EventPlace;
  filter: EventFilter;
  /** Whether there is a thread, and it is shown to whom this is. */
  maySee: () => boolean;
  /** Whether it has been so: only then is the end of the thread told. */
  hasSeen: boolean;
  /** Set while the reader can take more. */
  wanting: ReadableStreamDefaultController<Uint8Array> | null;
  controller: ReadableStreamDefaultController<Uint8Array> | null;
  /** When it was last sent something. */
  spokeAt: number;
};

/** Those who read the events of a thread as server-sent events. Each takes them at its own pace. */
export class EventReaders {
  readonly #now: () => number;
  readonly #onLeave: () => void;
  readonly #readers = new Set<Reader>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(deps: { now: () => number; onLeave: () => void }) {
    this.#now = deps.now;
    this.#onLeave = deps.onLeave;
  }

  get size(): number {
    return this.#readers.size;
  }

  /** Server-sent events from the place on, which end only when the thread does. */
  open(place: EventPlace, filter: EventFilter, maySee: () => boolean): ReadableStream<Uint8Array> {
    const reader: Reader = {
      place,
      filter,
      maySee,
      hasSeen: maySee(),
      wanting: null,
      controller: null,
      spokeAt: this.#now(),
    };
    this.#readers.add(reader);
    this.#timer ??= setInterval(() => this.tick(), HEARTBEAT_MS);
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader.controller = controller;
        },
        pull: (controller) => {
          reader.wanting = controller;
          this.#serve(reader);
        },
        cancel: () => this.#leave(reader),
      },
      { highWaterMark: 0 },
    );
  }

  /** Shows everybody what is new. */
  wake(): void {
    for (const reader of this.#readers) this.#serve(reader);
  }

  /** Tells everybody who has seen the thread why there is no more, and ends their streams. */
  endAll(reason: string): void {
    for (const reader of this.#readers) if (reader.hasSeen) this.#cutOff(reader, reason);
  }

  /** Keeps connections alive, and cuts off who does not read. */
  tick(): void {
    const now = this.#now();
    for (const reader of this.#readers) {
      if (reader.wanting !== null) {
        if (now - reader.spokeAt >= HEARTBEAT_MS) this.#send(reader, HEARTBEAT);
      } else if (now - reader.spokeAt >= SLOW_READER_MS) {
        this.#cutOff(reader, "Nothing was read of this stream for a minute");
      }
    }
  }

  #serve(reader: Reader): void {
    if (reader.wanting === null || !reader.maySee()) return;
    reader.hasSeen = true;
    const parts: Uint8Array[] = [];
    let size = 0;
    for (let looked = 0; looked < EVENTS_IN_A_TURN && size < CHUNK_BYTES; looked += 1) {
      const taken = reader.place.take();
      if (taken === "gone") {
        this.#cutOff(reader, "Events that come next are not kept any more");
        return;
      }
      if (taken === "none") {
        if (size > 0) break;
        return;
      }
      if (taken === "more" || !isWanted(taken, reader.filter)) continue;
      const bytes = taken.bytes();
      parts.push(bytes);
      size += bytes.byteLength;
    }
    if (size > 0) this.#send(reader, concatBytes(parts));
    else setTimeout(() => this.#serve(reader), 0);
  }

  #send(reader: Reader, bytes: Uint8Array): void {
    const controller = reader.wanting;
    reader.wanting = null;
    reader.spokeAt = this.#now();
    controller?.enqueue(bytes);
  }

  #cutOff(reader: Reader, message: string): void {
    const told = JSON.stringify({ type: "error", id: null, error: "unknown_error", message });
    this.#leave(reader);
    reader.controller?.enqueue(new TextEncoder().encode(`event: error\ndata: ${told}\n\n`));
    reader.controller?.close();
  }

  #leave(reader: Reader): void {
    reader.wanting = null;
    if (!this.#readers.delete(reader)) return;
    if (this.#readers.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    this.#onLeave();
  }
}
