import { EVENTS_IN_A_TURN, SLOW_READER_MS } from "./event-readers.ts";
import { isWanted } from "./event-filter.ts";
import {
  type ConnectionRecord,
  type ConnectionRequest,
  MAX_RECORD_CHARS,
  type Subscription,
} from "./connection.ts";
import type { EventPlace, SharedEvents } from "./shared-events.ts";

/** A connection is sent nothing more while so much waits on its way: the log waits instead. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** When those that could not take more are looked at again. */
const STALLED_RETRY_MS = 500;

/**
 * How long events wait for the subscriptions that follow one. Clients say what they want by several commands in a row, and
 * one that hears of a run's end by the first of them does not read what the others bring of that run.
 */
const SUBSCRIBING_MS = 5;

/** A client understands 4000 and the status of HTTP that says the same; after these two it may come again. */
const CLOSE_SLOW = 4408;
const CLOSE_GONE = 4404;

/** The parts of a WebSocket that are used here. */
export type Socket = {
  /** Not every runtime knows it: where it is missing, nothing is known to wait. */
  readonly bufferedAmount?: number;
  send: (text: string) => void;
  close: (code?: number, reason?: string) => void;
  serializeAttachment: (record: ConnectionRecord) => void;
  deserializeAttachment: () => unknown;
};

type Replay = { subscription: Subscription; place: EventPlace; until: number };

type Connection = {
  socket: Socket;
  request: ConnectionRequest;
  subscriptions: Map<string, Subscription>;
  /** What later subscriptions have still to be told of the past; nothing live comes before that. */
  replays: Replay[];
  place: EventPlace;
  /** Whether the thread was shown to whom this is: only then is its end told. */
  hasSeen: boolean;
  stalledSince: number | null;
  isScheduled: boolean;
  /** How many of its commands change what it wants at this moment: it is sent no events before they have. */
  subscribing: number;
};

export type SocketDeps = {
  events: SharedEvents;
  now: () => number;
  /** Whether the thread is there, and shown to whom this connection is. */
  maySee: (request: ConnectionRequest) => boolean;
  /** No run is in flight: the object may be put to sleep. */
  isIdle: () => boolean;
  onLeave: () => void;
};

/**
 * The WebSockets of a thread. Each is sent what its subscriptions want, as fast as it takes it. They outlive the object's
 * memory: what is needed then is kept beside each, and written whenever nothing is in flight.
 */
export class EventSockets {
  readonly #deps: SocketDeps;
  readonly #connections = new Map<Socket, Connection>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** `sleeping`: the connections that the object had before it was put to sleep. */
  constructor(deps: SocketDeps, sleeping: readonly Socket[]) {
    this.#deps = deps;
    for (const socket of sleeping) {
      const record = socket.deserializeAttachment() as ConnectionRecord | null;
      if (record !== null) this.#add(socket, record);
    }
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Somebody wants to be told of events. */
  get isReading(): boolean {
    return [...this.#connections.values()].some(({ subscriptions }) => subscriptions.size > 0);
  }

  open(socket: Socket, request: ConnectionRequest): void {
    this.#save(this.#add(socket, { ...request, subscriptions: [], after: 0 }));
  }

  requestOf(socket: Socket): ConnectionRequest | null {
    return this.#connections.get(socket)?.request ?? null;
  }

  /** A command that changes what this connection wants has come: events wait until a moment after its `settle`. */
  hold(socket: Socket): { settle: () => void } {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return { settle: () => undefined };
    connection.subscribing += 1;
    const settled = (): void => {
      connection.subscribing -= 1;
      this.#serve(connection);
    };
    // Twice: the first time is over at once where the object was busy for longer, with commands that nobody has read yet.
    const wait = (then: () => void): void => void setTimeout(then, SUBSCRIBING_MS);
    return { settle: () => wait(() => wait(settled)) };
  }

  /**
   * Adds a subscription, whose past from `since` on is sent before anything that is new; false when the connection has
   * more of them than can be kept.
   */
  subscribe(socket: Socket, subscription: Subscription, since: number): boolean {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return true;
    const { events } = this.#deps;
    const isFirst = connection.subscriptions.size === 0;
    connection.subscriptions.set(subscription.id, subscription);
    if (!this.#save(connection)) {
      connection.subscriptions.delete(subscription.id);
      this.#save(connection);
      return false;
    }
    if (isFirst) connection.place = events.placeAfter(since);
    else {
      const until = connection.place.after;
      connection.replays.push({ subscription, place: events.placeAfter(since), until });
    }
    this.#schedule(connection);
    return true;
  }

  /** Takes a subscription away, and returns it; null when the connection has no such one. */
  unsubscribe(socket: Socket, id: string): Subscription | null {
    const connection = this.#connections.get(socket);
    const subscription = connection?.subscriptions.get(id);
    if (connection === undefined || subscription === undefined) return null;
    connection.subscriptions.delete(id);
    connection.replays = connection.replays.filter((replay) => replay.subscription.id !== id);
    this.#save(connection);
    return subscription;
  }

  /** To be called when a connection has been closed; returns what it was subscribed to. */
  closed(socket: Socket): Subscription[] {
    const connection = this.#connections.get(socket);
    this.#connections.delete(socket);
    if (this.#connections.size === 0 && this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#timer = null;
    }
    this.#deps.onLeave();
    return connection === undefined ? [] : [...connection.subscriptions.values()];
  }

  /** Sends everybody what is new. */
  wake(): void {
    for (const connection of this.#connections.values()) this.#serve(connection);
  }

  endAll(reason: string): void {
    for (const { socket, hasSeen } of this.#connections.values()) {
      if (hasSeen) this.#cutOff(socket, CLOSE_GONE, reason);
    }
  }

  #add(socket: Socket, record: ConnectionRecord): Connection {
    const { subscriptions, after, ...request } = record;
    const connection: Connection = {
      socket,
      request,
      subscriptions: new Map(subscriptions.map((each) => [each.id, each])),
      replays: [],
      place: this.#deps.events.placeAfter(after),
      hasSeen: this.#deps.maySee(request),
      stalledSince: null,
      isScheduled: false,
      subscribing: 0,
    };
    this.#connections.set(socket, connection);
    return connection;
  }

  /** In a turn of its own, so that the answer to a command precedes what it leads to. */
  #schedule(connection: Connection): void {
    if (connection.isScheduled) return;
    connection.isScheduled = true;
    setTimeout(() => {
      connection.isScheduled = false;
      this.#serve(connection);
    }, 0);
  }

  #serve(connection: Connection): void {
    const { socket, subscriptions, request } = connection;
    if (!this.#connections.has(socket) || subscriptions.size === 0) return;
    if (connection.subscribing > 0) return;
    if (!this.#deps.maySee(request)) return;
    connection.hasSeen = true;
    for (let looked = 0; looked < EVENTS_IN_A_TURN; looked += 1) {
      if (this.#isStalled(connection)) return;
      const step = this.#next(connection);
      if (step === "gone") {
        this.#cutOff(socket, CLOSE_SLOW, "Events that come next are not kept any more");
        return;
      }
      if (step === "none") {
        // An object with a run in flight does not go to sleep.
        if (this.#deps.isIdle()) this.#save(connection);
        return;
      }
      if (step !== "more") socket.send(step.text);
    }
    this.#schedule(connection);
  }

  /** What is to be sent next. */
  #next(connection: Connection): { text: string } | "more" | "none" | "gone" {
    const [replay] = connection.replays;
    if (replay === undefined) {
      const taken = connection.place.take();
      if (typeof taken === "string") return taken;
      for (const { filter } of connection.subscriptions.values()) {
        if (isWanted(taken, filter)) return taken;
      }
      return "more";
    }
    const taken = replay.place.after < replay.until ? replay.place.take() : "none";
    if (taken === "none" || (typeof taken === "object" && taken.seq > replay.until)) {
      connection.replays.shift();
      return "more";
    }
    if (typeof taken === "string") return taken;
    return isWanted(taken, replay.subscription.filter) ? taken : "more";
  }

  #isStalled(connection: Connection): boolean {
    const { socket } = connection;
    const { bufferedAmount = 0 } = socket;
    if (bufferedAmount <= MAX_BUFFERED_BYTES) {
      connection.stalledSince = null;
      return false;
    }
    const now = this.#deps.now();
    connection.stalledSince ??= now;
    if (now - connection.stalledSince >= SLOW_READER_MS) {
      this.#cutOff(socket, CLOSE_SLOW, "Nothing was read of this connection for a minute");
    } else {
      this.#timer ??= setTimeout(() => this.retry(), STALLED_RETRY_MS);
    }
    return true;
  }

  /** Looks again at connections that could not take more. */
  retry(): void {
    this.#timer = null;
    for (const connection of this.#connections.values()) {
      if (connection.stalledSince !== null) this.#serve(connection);
    }
  }

  #cutOff(socket: Socket, code: number, reason: string): void {
    this.closed(socket);
    socket.close(code, reason);
  }

  /** Writes beside the socket what is needed after a sleep; false when that is too much. */
  #save({ socket, request, subscriptions, replays, place }: Connection): boolean {
    // What had still to be told of the past is told again with the rest: a client knows events by their ids.
    const after = Math.min(place.after, ...replays.map((replay) => replay.place.after));
    const record: ConnectionRecord = {
      ...request,
      subscriptions: [...subscriptions.values()],
      after,
    };
    if (JSON.stringify(record).length > MAX_RECORD_CHARS) return false;
    socket.serializeAttachment(record);
    return true;
  }
}
