import { EventFrames, FrameReader } from "../storage/event-frames.ts";
import type { EventLog } from "../storage/event-log.ts";
import type { RunRow } from "../storage/run-row.ts";

/**
 * Milliseconds between heartbeats: proxies and clients give up on silent connections, and the SDK's idle watch
 * expects about 5 s.
 */
const EVENTS_HEARTBEAT_MS = 5000;

/**
 * Milliseconds between heartbeats to a reader of a result. A disconnect is noticed only at the next write, and a
 * client that waits for a result often wants its run cancelled then.
 */
const RESULT_HEARTBEAT_MS = 1000;

/** Stands for the whole thread among its runs, whose numbers begin at 1. Its readers read one run after the other. */
export const WHOLE_THREAD = 0;

/** Readers whose heartbeats are due within this many milliseconds share a timer. */
const HEARTBEAT_SLACK_MS = 50;

export type EventStreamOptions = {
  /** The last event id that the reader has; -1 for none. */
  after: number;
  /** Returns whether an event is sent to the reader; null accepts every event. */
  accept: ((event: string) => boolean) | null;
  onDisconnect: (() => void) | null;
};

/** The readers of the events of all runs of the thread, including those that may reconnect. */
type ThreadReaders = {
  isReading: () => boolean;
  /** Whether any of these readers still has to read the run. */
  holds: (run: RunRow) => boolean;
  begin: (run: RunRow) => void;
  /** Called when there may be more in the logs of runs. */
  wake: () => void;
};

type Reader = {
  kind: "events" | "results";
  heartbeat: Uint8Array;
  heartbeatMs: number;
  /** The time at which something was last sent to the reader, in epoch milliseconds. */
  spokeAt: number;
  /** Returns the next bytes; empty if the examined events do not concern the reader, null if there are none. */
  read: () => Uint8Array | null;
  /** Whether no more events will come. */
  hasEnded: () => boolean;
  onLeave: (() => void) | null;
  /** Set while the reader can take more. */
  wanting: ReadableStreamDefaultController<Uint8Array> | null;
  /** Whether the reader must not read any further. */
  stopped: boolean;
};

/** A run that has readers. */
type Followed = {
  readers: Set<Reader>;
  /** Number of the readers that read events, and not the result. */
  ofEvents: number;
  frames: EventFrames;
  /** Whether a turn is due that serves the readers. */
  isWoken: boolean;
};

/**
 * The readers of a thread's runs. A reader pulls from the event log at its own pace, so a slow reader costs
 * neither the run nor memory. It gets only events that are durable: an event that it has seen never reappears with
 * a different id after a crash.
 */
export class RunStreams {
  readonly #log: EventLog;
  /** Returns the run's final result as JSON text once it has ended; null before. */
  readonly #resultOf: (runSeq: number) => string | null;
  readonly #hasEnded: (runSeq: number) => boolean;
  readonly #onLeave: (runSeq: number) => void;
  readonly #thread: ThreadReaders;
  readonly #followed = new Map<number, Followed>();
  /** Ranges of events that are not yet known to be on disk: the id of the first one, and the one past the last. */
  readonly #undurable = new Map<number, { first: number; end: number }>();
  #heartbeat: { dueAt: number; timer: ReturnType<typeof setTimeout> } | null = null;

  constructor(
    log: EventLog,
    run: {
      hasEnded: (runSeq: number) => boolean;
      resultOf: (runSeq: number) => string | null;
      /** Called when a reader of events or of the result has left. */
      onLeave: (runSeq: number) => void;
      thread: ThreadReaders;
    },
  ) {
    this.#log = log;
    this.#hasEnded = run.hasEnded;
    this.#resultOf = run.resultOf;
    this.#onLeave = run.onLeave;
    this.#thread = run.thread;
  }

  /** Whether any client is reading the run's events now. */
  isFollowed(runSeq: number): boolean {
    return (this.#followed.get(runSeq)?.ofEvents ?? 0) > 0 || this.#thread.isReading();
  }

  /**
   * Whether the run's events outlive it: if the client requested it, or if a client follows the thread and may
   * reconnect.
   */
  storesEvents(run: Pick<RunRow, "resumable">): boolean {
    return run.resumable === 1 || this.#thread.isReading();
  }

  /** Whether a client is waiting for the run's result, and has had no answer yet. */
  isAwaited(runSeq: number): boolean {
    const followed = this.#followed.get(runSeq);
    return followed !== undefined && followed.readers.size > followed.ofEvents;
  }

  /** Whether any client still reads the run's events or waits for its result. */
  hasReaders(runSeq: number): boolean {
    return this.#followed.has(runSeq);
  }

  /** Whether the run's events must be kept, because a client still has to read some of them. */
  isNeeded(run: RunRow): boolean {
    return this.hasReaders(run.seq) || this.#thread.holds(run);
  }

  /** Must be called when a run starts, in the transaction that marks it as started. */
  begin(run: RunRow): void {
    this.#thread.begin(run);
  }

  /** Holds back the events from `first` to before `end`, which were written, until `release` is called. */
  hold(runSeq: number, first: number, end: number): void {
    const held = this.#undurable.get(runSeq);
    if (held === undefined) this.#undurable.set(runSeq, { first, end });
    else held.end = end;
  }

  /** Releases all events before `end`, which are durable now. */
  release(runSeq: number, end: number): void {
    const held = this.#undurable.get(runSeq);
    if (held !== undefined) {
      held.first = Math.max(held.first, end);
      if (held.first >= held.end) this.#undurable.delete(runSeq);
    }
    this.wake(runSeq);
  }

  /** Ends every stream at its current position, because the thread was deleted. */
  endAll(): void {
    for (const [runSeq, { readers }] of this.#followed) {
      for (const reader of readers) reader.stopped = true;
      this.wake(runSeq);
    }
  }

  /** Returns the id of the first event of the run that must not be shown yet. */
  firstHeld(runSeq: number): number {
    return this.#undurable.get(runSeq)?.first ?? Infinity;
  }

  /** Whether no more events of the run will come, and all of them may be shown. */
  isOver(runSeq: number): boolean {
    return this.#hasEnded(runSeq) && !this.#undurable.has(runSeq);
  }

  /** Sends new events to the readers of the run and of the thread, after the current synchronous work. */
  wake(runSeq: number): void {
    if (runSeq !== WHOLE_THREAD) this.#wake(runSeq);
    this.#thread.wake();
    this.#wake(WHOLE_THREAD);
  }

  #wake(runSeq: number): void {
    const followed = this.#followed.get(runSeq);
    if (followed === undefined) return;
    followed.frames.logChanged();
    if (followed.isWoken) return;
    followed.isWoken = true;
    queueMicrotask(() => {
      followed.isWoken = false;
      for (const reader of followed.readers) this.#serve(runSeq, reader);
    });
  }

  /** Streams the server-sent events of a run; ends after its last event. */
  events(runSeq: number, options: EventStreamOptions): ReadableStream<Uint8Array> {
    const reader = new FrameReader(this.#follow(runSeq).frames, options);
    return this.#stream(runSeq, {
      kind: "events",
      // There is no blank line at the end, because the SDK's parser would create an empty event from it.
      heartbeat: ": heartbeat\n",
      heartbeatMs: EVENTS_HEARTBEAT_MS,
      read: () => reader.next(this.firstHeld(runSeq)),
      hasEnded: () => this.isOver(runSeq),
      onLeave: null,
      onDisconnect: options.onDisconnect,
    });
  }

  /** Streams the server-sent events of the thread, as `source` provides them. */
  thread(source: Pick<Reader, "read" | "hasEnded" | "onLeave">): ReadableStream<Uint8Array> {
    return this.#stream(WHOLE_THREAD, {
      kind: "events",
      heartbeat: ": heartbeat\n",
      heartbeatMs: EVENTS_HEARTBEAT_MS,
      ...source,
      onDisconnect: null,
    });
  }

  /** Streams the final values of a run as JSON, after white space that keeps the connection alive. */
  result(runSeq: number, onDisconnect: (() => void) | null): ReadableStream<Uint8Array> {
    let answered = false;
    return this.#stream(runSeq, {
      kind: "results",
      heartbeat: "\n",
      heartbeatMs: RESULT_HEARTBEAT_MS,
      read: () => {
        if (answered || !this.isOver(runSeq)) return null;
        answered = true;
        return new TextEncoder().encode(this.#resultOf(runSeq) ?? "{}");
      },
      hasEnded: () => this.isOver(runSeq),
      onLeave: null,
      onDisconnect,
    });
  }

  #stream(
    runSeq: number,
    source: {
      kind: Reader["kind"];
      heartbeat: string;
      heartbeatMs: number;
      read: Reader["read"];
      hasEnded: Reader["hasEnded"];
      onLeave: Reader["onLeave"];
      onDisconnect: (() => void) | null;
    },
  ): ReadableStream<Uint8Array> {
    const { kind, heartbeatMs, read, hasEnded, onLeave } = source;
    const reader: Reader = {
      kind,
      heartbeat: new TextEncoder().encode(source.heartbeat),
      heartbeatMs,
      spokeAt: Date.now(),
      read,
      hasEnded,
      onLeave,
      wanting: null,
      stopped: false,
    };
    const followed = this.#follow(runSeq);
    followed.readers.add(reader);
    if (kind === "events") followed.ofEvents += 1;
    this.#expectHeartbeat(reader.spokeAt + heartbeatMs);
    // Not a stream of type "bytes", because workerd allocates and clears a large buffer for each read of such a
    // stream.
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          reader.wanting = controller;
          this.#serve(runSeq, reader);
        },
        cancel: () => {
          this.#leave(runSeq, reader);
          source.onDisconnect?.();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Sends the available bytes to a reader that can take more, and closes its stream after the last ones. */
  #serve(runSeq: number, reader: Reader): void {
    const controller = reader.wanting;
    if (controller === null) return;
    // Checked before reading: events that are written in between are still read, and never skipped.
    const ended = reader.stopped || reader.hasEnded();
    let bytes = reader.stopped ? null : reader.read();
    if (bytes?.byteLength === 0) bytes = reader.read();
    if (bytes === null) {
      if (!ended) return;
      this.#leave(runSeq, reader);
      controller.close();
    } else if (bytes.byteLength > 0) {
      send(reader, bytes);
    } else {
      // In a separate turn, so that the pages that one reader skips do not delay the others.
      setTimeout(() => this.#serve(runSeq, reader), 0);
    }
  }

  #follow(runSeq: number): Followed {
    const found = this.#followed.get(runSeq);
    if (found !== undefined) return found;
    const frames = new EventFrames(this.#log, runSeq);
    const followed = { readers: new Set<Reader>(), ofEvents: 0, frames, isWoken: false };
    this.#followed.set(runSeq, followed);
    return followed;
  }

  /** Removes a reader; further calls have no effect. */
  #leave(runSeq: number, reader: Reader): void {
    reader.wanting = null;
    const followed = this.#followed.get(runSeq);
    if (followed?.readers.delete(reader) !== true) return;
    if (reader.kind === "events") followed.ofEvents -= 1;
    if (followed.readers.size === 0) this.#followed.delete(runSeq);
    reader.onLeave?.();
    this.#onLeave(runSeq);
  }

  /** Makes sure that the heartbeat timer, which all readers share, goes off no later than `dueAt`. */
  #expectHeartbeat(dueAt: number): void {
    if (this.#heartbeat !== null) {
      if (this.#heartbeat.dueAt <= dueAt) return;
      clearTimeout(this.#heartbeat.timer);
    }
    const timer = setTimeout(() => this.#sendHeartbeats(), dueAt - Date.now());
    this.#heartbeat = { dueAt, timer };
  }

  #sendHeartbeats(): void {
    this.#heartbeat = null;
    const now = Date.now();
    let nextAt = Infinity;
    for (const { readers } of this.#followed.values()) {
      for (const reader of readers) {
        const isDue = reader.spokeAt + reader.heartbeatMs <= now + HEARTBEAT_SLACK_MS;
        // A heartbeat that the reader does not ask for would not keep its connection alive.
        if (isDue && reader.wanting !== null) send(reader, reader.heartbeat);
        const dueAt = reader.spokeAt + reader.heartbeatMs;
        // A reader that cannot take more still has data to read.
        nextAt = Math.min(nextAt, dueAt > now ? dueAt : now + reader.heartbeatMs);
      }
    }
    if (nextAt < Infinity) this.#expectHeartbeat(nextAt);
  }
}

/** Sends bytes, but only to a reader that can take more. */
function send(reader: Reader, bytes: Uint8Array): void {
  const controller = reader.wanting;
  if (controller === null) return;
  reader.wanting = null;
  reader.spokeAt = Date.now();
  controller.enqueue(bytes);
}

/** Returns a body whose text is available already. */
export function textStream(text: string): ReadableStream<Uint8Array> {
  return new Response(text).body ?? new ReadableStream();
}
