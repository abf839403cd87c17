import { EventFrames, FrameReader } from "../storage/event-frames.ts";
import type { EventLog } from "../storage/event-log.ts";
import type { RunRow } from "../storage/run-row.ts";

/** Proxies and clients give up on silent connections; the SDK's idle watch counts on about 5 s. */
const EVENTS_HEARTBEAT_MS = 5000;

/** That a client has left shows in the next write: whoever waits for a result often wants it cancelled. */
const RESULT_HEARTBEAT_MS = 1000;

/** Stands for the thread among its runs, whose numbers begin at 1: who follows it reads one run after the other. */
export const WHOLE_THREAD = 0;

/** Readers whose heartbeats are due this close to each other share a timer. */
const HEARTBEAT_SLACK_MS = 50;

export type EventStreamOptions = {
  /** The last event id the reader has; -1 for none. */
  after: number;
  /** Null passes every event. */
  accept: ((event: string) => boolean) | null;
  onDisconnect: (() => void) | null;
};

/** Those who read the events of all runs of the thread, or may come back to. */
type ThreadReaders = {
  isReading: () => boolean;
  /** Some of them have still to read of the run. */
  holds: (run: RunRow) => boolean;
  begin: (run: RunRow) => void;
  /** There may be more in the logs of runs. */
  wake: () => void;
};

type Reader = {
  kind: "events" | "results";
  heartbeat: Uint8Array;
  heartbeatMs: number;
  /** When it was last sent something. */
  spokeAt: number;
  /** The next bytes; empty when what there is does not concern the reader, null when there is nothing. */
  read: () => Uint8Array | null;
  /** Nothing more will come. */
  hasEnded: () => boolean;
  onLeave: (() => void) | null;
  /** Set while the reader can take more. */
  wanting: ReadableStreamDefaultController<Uint8Array> | null;
  /** Nothing more is to be read. */
  stopped: boolean;
};

/** A run that somebody reads. */
type Followed = {
  readers: Set<Reader>;
  /** How many of them read events, and not the result. */
  ofEvents: number;
  frames: EventFrames;
  /** A turn that serves the readers is due. */
  isWoken: boolean;
};

/**
 * The readers of a thread's runs. A reader pulls from the event log at its own pace, so a slow one
 * costs neither the run nor memory. It is shown only events that are durable: one it has seen never
 * comes back under another id after a crash.
 */
export class RunStreams {
  readonly #log: EventLog;
  /** The run's final result as JSON text once it has ended, else null. */
  readonly #resultOf: (runSeq: number) => string | null;
  readonly #hasEnded: (runSeq: number) => boolean;
  readonly #onLeave: (runSeq: number) => void;
  readonly #thread: ThreadReaders;
  readonly #followed = new Map<number, Followed>();
  /** For runs with events not yet known to be on disk: the first such id, and the one past the last. */
  readonly #undurable = new Map<number, { first: number; end: number }>();
  #heartbeat: { dueAt: number; timer: ReturnType<typeof setTimeout> } | null = null;

  constructor(
    log: EventLog,
    run: {
      hasEnded: (runSeq: number) => boolean;
      resultOf: (runSeq: number) => string | null;
      /** A reader, of events or of the result, has gone. */
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

  /** Somebody reads the run's events now. */
  isFollowed(runSeq: number): boolean {
    return (this.#followed.get(runSeq)?.ofEvents ?? 0) > 0 || this.#thread.isReading();
  }

  /** The run's events outlive it: that was asked for, or somebody follows the thread and may come back. */
  storesEvents(run: Pick<RunRow, "resumable">): boolean {
    return run.resumable === 1 || this.#thread.isReading();
  }

  /** Somebody waits for the run's result, and has had no answer yet. */
  isAwaited(runSeq: number): boolean {
    const followed = this.#followed.get(runSeq);
    return followed !== undefined && followed.readers.size > followed.ofEvents;
  }

  /** Somebody still reads something of the run. */
  hasReaders(runSeq: number): boolean {
    return this.#followed.has(runSeq);
  }

  /** The run's events have to stay: somebody has still to read of them. */
  isNeeded(run: RunRow): boolean {
    return this.hasReaders(run.seq) || this.#thread.holds(run);
  }

  /** A run begins. In the transaction that marks it. */
  begin(run: RunRow): void {
    this.#thread.begin(run);
  }

  /** Events from `first` to before `end` were written but must not be shown before `release`. */
  hold(runSeq: number, first: number, end: number): void {
    const held = this.#undurable.get(runSeq);
    if (held === undefined) this.#undurable.set(runSeq, { first, end });
    else held.end = end;
  }

  /** Everything before `end` is durable now. */
  release(runSeq: number, end: number): void {
    const held = this.#undurable.get(runSeq);
    if (held !== undefined) {
      held.first = Math.max(held.first, end);
      if (held.first >= held.end) this.#undurable.delete(runSeq);
    }
    this.wake(runSeq);
  }

  /** Ends every stream where it is: the thread is gone. */
  endAll(): void {
    for (const [runSeq, { readers }] of this.#followed) {
      for (const reader of readers) reader.stopped = true;
      this.wake(runSeq);
    }
  }

  /** The first of the run's events that must not be shown yet. */
  firstHeld(runSeq: number): number {
    return this.#undurable.get(runSeq)?.first ?? Infinity;
  }

  /** Nothing more will come of the run, and all that came may be shown. */
  isOver(runSeq: number): boolean {
    return this.#hasEnded(runSeq) && !this.#undurable.has(runSeq);
  }

  /** Shows the readers of the run, and those who follow the thread, what is new, after the work that goes on now. */
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

  /** Server-sent events of a run; ends after its last event. */
  events(runSeq: number, options: EventStreamOptions): ReadableStream<Uint8Array> {
    const reader = new FrameReader(this.#follow(runSeq).frames, options);
    return this.#stream(runSeq, {
      kind: "events",
      // No blank line after it: the SDK's parser would make an empty event of that.
      heartbeat: ": heartbeat\n",
      heartbeatMs: EVENTS_HEARTBEAT_MS,
      read: () => reader.next(this.firstHeld(runSeq)),
      hasEnded: () => this.isOver(runSeq),
      onLeave: null,
      onDisconnect: options.onDisconnect,
    });
  }

  /** Server-sent events of the thread, as `source` gives them. */
  thread(source: Pick<Reader, "read" | "hasEnded" | "onLeave">): ReadableStream<Uint8Array> {
    return this.#stream(WHOLE_THREAD, {
      kind: "events",
      heartbeat: ": heartbeat\n",
      heartbeatMs: EVENTS_HEARTBEAT_MS,
      ...source,
      onDisconnect: null,
    });
  }

  /** The final values of a run as JSON, after white space that keeps the connection alive. */
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
    // No stream of type "bytes": workerd makes and clears a large buffer for each read of such a one.
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

  /** Sends a reader that can take more what there is, and its end after the last. */
  #serve(runSeq: number, reader: Reader): void {
    const controller = reader.wanting;
    if (controller === null) return;
    // Asked before reading: events written in between are read, never skipped.
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
      // A turn of its own: the pages that one reader passes over are no reason for others to wait.
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

  /** Counts a reader out, once. */
  #leave(runSeq: number, reader: Reader): void {
    reader.wanting = null;
    const followed = this.#followed.get(runSeq);
    if (followed?.readers.delete(reader) !== true) return;
    if (reader.kind === "events") followed.ofEvents -= 1;
    if (followed.readers.size === 0) this.#followed.delete(runSeq);
    reader.onLeave?.();
    this.#onLeave(runSeq);
  }

  /** Has one timer for all readers go off no later than that. */
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
        // What the reader did not ask for keeps nobody's connection alive.
        if (isDue && reader.wanting !== null) send(reader, reader.heartbeat);
        const dueAt = reader.spokeAt + reader.heartbeatMs;
        // A reader that cannot take more has enough to read.
        nextAt = Math.min(nextAt, dueAt > now ? dueAt : now + reader.heartbeatMs);
      }
    }
    if (nextAt < Infinity) this.#expectHeartbeat(nextAt);
  }
}

/** Only to a reader that can take more. */
function send(reader: Reader, bytes: Uint8Array): void {
  const controller = reader.wanting;
  if (controller === null) return;
  reader.wanting = null;
  reader.spokeAt = Date.now();
  controller.enqueue(bytes);
}

/** A body that is there already. */
export function textStream(text: string): ReadableStream<Uint8Array> {
  return new Response(text).body ?? new ReadableStream();
}
