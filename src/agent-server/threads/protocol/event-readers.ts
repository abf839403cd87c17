import { concatBytes } from "../../../lib/bytes.ts";
import { type EventFilter, isWanted } from "./event-filter.ts";
import type { EventPlace } from "./shared-events.ts";

/** Milliseconds between heartbeats, because proxies and clients give up on silent connections. */
const HEARTBEAT_MS = 5000;

/** Milliseconds after which a reader that takes nothing, although there are events for it, is disconnected. */
export const SLOW_READER_MS = 60_000;

/** Maximum bytes that a reader is given at once; a single event may be larger. */
const CHUNK_BYTES = 64 * 1024;

/** Number of events that are examined for one reader before the others have their turn. */
export const EVENTS_IN_A_TURN = 2000;

const HEARTBEAT = new TextEncoder().encode(": heartbeat\n");

type Reader = {
  place: EventPlace;
  filter: EventFilter;
  /** Returns whether the thread exists and is visible to the reader. */
  maySee: () => boolean;
  /** Whether the reader has ever seen the thread: only then does it learn of the thread's end. */
  hasSeen: boolean;
  /** Set while the reader can take more. */
  wanting: ReadableStreamDefaultController<Uint8Array> | null;
  controller: ReadableStreamDefaultController<Uint8Array> | null;
  /** The time at which something was last sent to the reader, in epoch milliseconds. */
  spokeAt: number;
};

/** The readers of a thread's events as server-sent events. Each reads at its own pace. */
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

  /** Streams server-sent events from the place on. The stream ends only when the thread is deleted. */
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

  /** Sends new events to all readers. */
  wake(): void {
    for (const reader of this.#readers) this.#serve(reader);
  }

  /** Ends the streams of all readers that have seen the thread, with the reason. */
  endAll(reason: string): void {
    for (const reader of this.#readers) if (reader.hasSeen) this.#cutOff(reader, reason);
  }

  /** Keeps connections alive, and disconnects readers that do not read. */
  tick(): void {
    const now = this.#now();
    for (const reader of this.#readers) {
      if (reader.wanting !== null) {
        if (now - reader.spokeAt >= HEARTBEAT_MS) this.#send(reader, HEARTBEAT);
      } else if (now - reader.spokeAt >= SLOW_READER_MS) {
        this.#cutOff(reader, "The stream was not read for a minute");
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
        this.#cutOff(reader, "The next events are no longer kept");
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
