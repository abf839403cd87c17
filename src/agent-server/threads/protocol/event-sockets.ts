import { EVENTS_IN_A_TURN, SLOW_READER_MS } from "./event-readers.ts";
import { isWanted } from "./event-filter.ts";
import {
  type ConnectionRecord,
  type ConnectionRequest,
  MAX_RECORD_CHARS,
  type Subscription,
} from "./connection.ts";
import type { EventPlace, SharedEvents } from "./shared-events.ts";

/** Maximum bytes buffered for a connection: beyond this, events wait in the log instead. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Milliseconds after which connections that could not take more are tried again. */
const STALLED_RETRY_MS = 500;

/**
 * Milliseconds for which events wait for further subscriptions after one. Clients send several subscribe commands
 * in a row, and a client that learns of a run's end through the first does not read what the others deliver of
 * that run.
 */
const SUBSCRIBING_MS = 5;

/** Close codes: 4000 plus the HTTP status with the same meaning. After either of them a client may reconnect. */
const CLOSE_SLOW = 4408;
const CLOSE_GONE = 4404;

/** The parts of a WebSocket that are used here. */
export type Socket = {
  /** Not supported by every runtime: where it is missing, the buffer is taken to be empty. */
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
  /** Past events that later subscriptions still have to get. They are sent before any live event. */
  replays: Replay[];
  place: EventPlace;
  /** Whether the connection has ever seen the thread: only then does it learn of the thread's end. */
  hasSeen: boolean;
  stalledSince: number | null;
  isScheduled: boolean;
  /** Number of its pending commands that change its subscriptions. No events are sent to it until they are done. */
  subscribing: number;
};

export type SocketDeps = {
  events: SharedEvents;
  now: () => number;
  /** Returns whether the thread exists and is visible to the connection's caller. */
  maySee: (request: ConnectionRequest) => boolean;
  /** Returns whether no run is in flight, so that the object may hibernate. */
  isIdle: () => boolean;
  onLeave: () => void;
};

/**
 * The WebSockets of a thread. Each gets the events of its subscriptions as fast as it takes them. The sockets
 * outlive the object's memory: their state is stored with each of them, and updated whenever no run is in flight.
 */
export class EventSockets {
  readonly #deps: SocketDeps;
  readonly #connections = new Map<Socket, Connection>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** `sleeping` are the connections that the object had before it hibernated. */
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

  /** Whether any connection is subscribed to events. */
  get isReading(): boolean {
    return [...this.#connections.values()].some(({ subscriptions }) => subscriptions.size > 0);
  }

  open(socket: Socket, request: ConnectionRequest): void {
    this.#save(this.#add(socket, { ...request, subscriptions: [], after: 0 }));
  }

  requestOf(socket: Socket): ConnectionRequest | null {
    return this.#connections.get(socket)?.request ?? null;
  }

  /**
   * Must be called when a command arrives that changes the connection's subscriptions. Events are held back until
   * shortly after `settle` is called.
   */
  hold(socket: Socket): { settle: () => void } {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return { settle: () => undefined };
    connection.subscribing += 1;
    const settled = (): void => {
      connection.subscribing -= 1;
      this.#serve(connection);
    };
    // Waits twice: if the object was busy for longer than one wait, the first timer fires at once, before the
    // commands that arrived in the meantime have been read.
    const wait = (then: () => void): void => void setTimeout(then, SUBSCRIBING_MS);
    return { settle: () => wait(() => wait(settled)) };
  }

  /**
   * Adds a subscription. Its past events from `since` on are sent before any new event. Returns false if the
   * connection has more subscriptions than can be stored.
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

  /** Removes a subscription and returns it; null if the connection has no such subscription. */
  unsubscribe(socket: Socket, id: string): Subscription | null {
    const connection = this.#connections.get(socket);
    const subscription = connection?.subscriptions.get(id);
    if (connection === undefined || subscription === undefined) return null;
    connection.subscriptions.delete(id);
    connection.replays = connection.replays.filter((replay) => replay.subscription.id !== id);
    this.#save(connection);
    return subscription;
  }

  /** Must be called when a connection was closed; returns its subscriptions. */
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

  /** Sends new events to all connections. */
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

  /** Serves the connection in a separate turn, so that the answer to a command precedes the events that it causes. */
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
        this.#cutOff(socket, CLOSE_SLOW, "The next events are no longer kept");
        return;
      }
      if (step === "none") {
        // An object with a run in flight does not hibernate.
        if (this.#deps.isIdle()) this.#save(connection);
        return;
      }
      if (step !== "more") socket.send(step.text);
    }
    this.#schedule(connection);
  }

  /** Returns what to send next. */
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
      this.#cutOff(socket, CLOSE_SLOW, "The connection was not read for a minute");
    } else {
      this.#timer ??= setTimeout(() => this.retry(), STALLED_RETRY_MS);
    }
    return true;
  }

  /** Tries connections again that could not take more. */
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

  /** Stores the state of a connection with its socket; returns false if it is too large. */
  #save({ socket, request, subscriptions, replays, place }: Connection): boolean {
    // The earliest position is stored, so that unfinished replays are sent again along with later events. Clients
    // recognize repeated events by their ids.
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
