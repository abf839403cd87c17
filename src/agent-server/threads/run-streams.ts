import type { EventLog, LoggedEvent } from "./event-log.ts";

/** Proxies and clients give up on silent connections; the SDK's idle watch counts on about 5 s. */
const EVENTS_HEARTBEAT_MS = 5000;

/** That a client has left shows in the next write: whoever waits for a result often wants it cancelled. */
const RESULT_HEARTBEAT_MS = 1000;

export type EventStreamOptions = {
  /** The last event id the reader has; -1 for none. */
  after: number;
  /** Null passes every event. */
  accept: ((event: string) => boolean) | null;
  onDisconnect: (() => void) | null;
};

type Waiter = () => void;

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
  readonly #waiters = new Map<number, Set<Waiter>>();
  readonly #stops = new Set<Waiter>();
  readonly #readers = new Map<number, { events: number; results: number }>();
  /** For runs with events not yet known to be on disk: the first such id, and the one past the last. */
  readonly #undurable = new Map<number, { first: number; end: number }>();

  constructor(
    log: EventLog,
    run: {
      hasEnded: (runSeq: number) => boolean;
      resultOf: (runSeq: number) => string | null;
      /** A reader, of events or of the result, has gone. */
      onLeave: (runSeq: number) => void;
    },
  ) {
    this.#log = log;
    this.#hasEnded = run.hasEnded;
    this.#resultOf = run.resultOf;
    this.#onLeave = run.onLeave;
  }

  /** Somebody reads the run's events now. */
  isFollowed(runSeq: number): boolean {
    return (this.#readers.get(runSeq)?.events ?? 0) > 0;
  }

  /** Somebody waits for the run's result, and has had no answer yet. */
  isAwaited(runSeq: number): boolean {
    return (this.#readers.get(runSeq)?.results ?? 0) > 0;
  }

  /** Somebody still reads something of the run. */
  hasReaders(runSeq: number): boolean {
    return this.#readers.has(runSeq);
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
    for (const stop of this.#stops) stop();
  }

  wake(runSeq: number): void {
    const waiters = this.#waiters.get(runSeq);
    if (waiters === undefined) return;
    this.#waiters.delete(runSeq);
    for (const waiter of waiters) waiter();
  }

  /** Server-sent events of a run; ends after its last event. */
  events(runSeq: number, options: EventStreamOptions): ReadableStream<Uint8Array> {
    let after = options.after;
    return this.#stream(runSeq, {
      kind: "events",
      // No blank line after it: the SDK's parser would make an empty event of that.
      heartbeat: ": heartbeat\n",
      heartbeatMs: EVENTS_HEARTBEAT_MS,
      read: () => {
        const page = this.#log.read(runSeq, after, this.#undurable.get(runSeq)?.first ?? Infinity);
        const last = page.at(-1);
        if (last === undefined) return null;
        after = last.id;
        return page
          .filter(({ event }) => options.accept === null || options.accept(event))
          .map(encodeEvent)
          .join("");
      },
      onDisconnect: options.onDisconnect,
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
        if (answered || !this.#hasEnded(runSeq) || this.#undurable.has(runSeq)) return null;
        answered = true;
        return this.#resultOf(runSeq) ?? "{}";
      },
      onDisconnect,
    });
  }

  #stream(
    runSeq: number,
    source: {
      kind: "events" | "results";
      heartbeat: string;
      heartbeatMs: number;
      /** The next text, or null when there is none now. */
      read: () => string | null;
      onDisconnect: (() => void) | null;
    },
  ): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    const leave = this.#enter(runSeq, source.kind);
    let stopWaiting: Waiter | null = null;
    let stopped = false;
    const stop = (): void => {
      stopped = true;
      stopWaiting?.();
    };
    this.#stops.add(stop);
    const finish = (): void => {
      this.#stops.delete(stop);
      leave();
    };
    let spokeAt = Date.now();
    const send = (controller: ReadableByteStreamController, text: string): void => {
      spokeAt = Date.now();
      controller.enqueue(encoder.encode(text));
    };
    const pull = async (controller: ReadableByteStreamController): Promise<void> => {
      for (;;) {
        // Asked before reading: events written in between are read, never skipped.
        const ended = stopped || (this.#hasEnded(runSeq) && !this.#undurable.has(runSeq));
        const text = stopped ? null : source.read();
        if (text !== null && text !== "") {
          send(controller, text);
          return;
        }
        // What the reader did not ask for keeps nobody's connection alive.
        const patience = source.heartbeatMs - (Date.now() - spokeAt);
        if (text === "" && patience > 0) continue;
        if (text === null && ended) {
          finish();
          controller.close();
          controller.byobRequest?.respond(0);
          return;
        }
        const woken =
          patience > 0 && (await this.#wait(runSeq, patience, (stop) => (stopWaiting = stop)));
        if (woken) continue;
        send(controller, source.heartbeat);
        return;
      }
    };
    return new ReadableStream({
      type: "bytes",
      pull,
      cancel: () => {
        stopWaiting?.();
        finish();
        source.onDisconnect?.();
      },
    });
  }

  /** True when woken, false when it is time for a heartbeat. */
  #wait(runSeq: number, ms: number, onStop: (stop: Waiter) => void): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    const waiter = (): void => resolve(true);
    const waiters = this.#waiters.get(runSeq) ?? new Set();
    this.#waiters.set(runSeq, waiters.add(waiter));
    onStop(waiter);
    return promise.finally(() => {
      clearTimeout(timer);
      waiters.delete(waiter);
    });
  }

  /** Counts a reader in; the answer counts it out, once. */
  #enter(runSeq: number, kind: "events" | "results"): () => void {
    const counts = this.#readers.get(runSeq) ?? { events: 0, results: 0 };
    this.#readers.set(runSeq, counts);
    counts[kind] += 1;
    let entered = true;
    return () => {
      if (!entered) return;
      entered = false;
      counts[kind] -= 1;
      if (counts.events + counts.results === 0) this.#readers.delete(runSeq);
      this.#onLeave(runSeq);
    };
  }
}

/** JSON text has no line breaks, so one `data` line holds it. Names come from graph code. */
function encodeEvent({ id, event, data }: LoggedEvent): string {
  return `event: ${event.replace(/[\r\n]/g, "")}\ndata: ${data}\nid: ${id}\n\n`;
}

/** A body that is there already. */
export function textStream(text: string): ReadableStream<Uint8Array> {
  return new Response(text).body ?? new ReadableStream();
}
