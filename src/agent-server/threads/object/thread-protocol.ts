import type { Result } from "../contract/failures.ts";
import type { Visibility } from "../../../lib/metadata-filter.ts";
import { isVisible } from "../contract/thread-requests.ts";
import type { AgentTreeNode } from "../../../graph-runtime/stream-protocol/agent-tree.ts";
import {
  type Command,
  type CommandAnswer,
  CommandError,
  type CommandPort,
  errorAnswer,
} from "../protocol/commands.ts";
import { type ConnectionRequest, connectionRequestOf } from "../protocol/connection.ts";
import type { ThreadLog } from "../protocol/event-cursor.ts";
import type { EventFilter } from "../protocol/event-filter.ts";
import { EventReaders } from "../protocol/event-readers.ts";
import { EventSockets } from "../protocol/event-sockets.ts";
import { RunTranslator } from "../../../graph-runtime/stream-protocol/run-translator.ts";
import { isObject, jsonOrUndefined } from "../../../lib/json.ts";
import { log as logLine } from "../../../lib/log.ts";
import { SharedEvents } from "../protocol/shared-events.ts";
import { Subscriptions } from "../protocol/subscriptions.ts";
import type { ThreadRow } from "../storage/thread-record.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { RunStarts } from "./run-starts.ts";

/** Maximum readers of one thread. More are refused, because a single object writes to all of them. */
const MAX_READERS = 1000;

/** Maximum commands of a connection that may be waiting. A client with more must await some answers first. */
const MAX_WAITING_COMMANDS = 100;

type ThreadProtocolDeps = {
  ctx: Pick<DurableObjectState, "acceptWebSocket" | "getWebSockets">;
  storage: ThreadStorage;
  log: ThreadLog;
  starts: RunStarts;
  commands: () => CommandPort;
  /** Returns the thread as the caller sees it; null if there is none. */
  wake: (filter: Visibility) => ThreadRow | null;
};

export type OpenedEvents = Result<ReadableStream<Uint8Array>, "too_many_readers">;

/** The streaming protocol of one thread: the readers of its events, and the commands that arrive by WebSocket. */
export class ThreadProtocol {
  readonly #deps: ThreadProtocolDeps;
  readonly #events: SharedEvents;
  readonly #readers: EventReaders;
  readonly #sockets: EventSockets;
  readonly #subscriptions: Subscriptions;
  readonly #waiting = new WeakMap<WebSocket, { count: number; last: Promise<void> }>();
  #isWoken = false;

  constructor(deps: ThreadProtocolDeps) {
    this.#deps = deps;
    const { storage, log, ctx, starts } = deps;
    const now = (): number => Date.now();
    const onLeave = (): void => this.#forgetIfUnread();
    this.#events = new SharedEvents(log);
    this.#readers = new EventReaders({ now, onLeave });
    this.#sockets = new EventSockets(
      {
        events: this.#events,
        now,
        maySee: ({ filter }) => this.#maySee(filter),
        isIdle: () => !storage.exists || storage.runs.running() === null,
        onLeave,
      },
      ctx.getWebSockets(),
    );
    this.#subscriptions = new Subscriptions(this.#sockets, {
      now,
      lastSeq: () => starts.lastSeq(),
      hasRun: (runId) => log.runNow(runId) !== null,
      countPast: async (socket, wanted, since) => {
        const request = this.#sockets.requestOf(socket);
        if (request === null || !this.#maySee(request.filter)) return 0;
        return this.#events.count(wanted, since, starts.lastSeq());
      },
    });
  }

  /** Whether any client reads the events of the thread's runs. */
  isReading(): boolean {
    return this.#readers.size > 0 || this.#sockets.isReading;
  }

  /** Sends new events to the readers, after the current synchronous work. */
  wake(): void {
    this.#events.logChanged();
    if (this.#isWoken) return;
    this.#isWoken = true;
    queueMicrotask(() => {
      this.#isWoken = false;
      this.#readers.wake();
      this.#sockets.wake();
    });
  }

  /** Ends all readers, because the thread was deleted. */
  endAll(): void {
    this.#readers.endAll("The thread was deleted");
    this.#sockets.endAll("The thread was deleted");
  }

  /** Streams server-sent events after the number `since`, as soon as the thread exists and the caller may see it. */
  open(filter: Visibility, wanted: EventFilter, since: number): OpenedEvents {
    this.#deps.wake(filter);
    if (this.#isFull()) return { ok: false, code: "too_many_readers" };
    const place = this.#events.placeAfter(Math.min(since, this.#deps.starts.lastSeq()));
    return { ok: true, value: this.#readers.open(place, wanted, () => this.#maySee(filter)) };
  }

  /**
   * Returns the known graphs and nodes of a run, of the newest run if no id is given. Null if there is no such
   * run.
   */
  async tree(filter: Visibility, runId: string | null): Promise<AgentTreeNode | null> {
    const { storage, log } = this.#deps;
    if (this.#deps.wake(filter) === null) return null;
    const run = runId === null ? storage.runs.newest() : storage.runs.get(runId);
    if (run === null) return null;
    if (run.first_seq === null) {
      return { namespace: [], status: "started", graph_name: run.graph_id };
    }
    const translator = new RunTranslator(log.describe(run));
    for (let next = 0; ;) {
      const events = log.read(run.seq, next - 1);
      for (const event of events) translator.translate(event);
      const last = events.at(-1);
      if (last === undefined) break;
      next = last.id + 1;
      // Other work of the object can run between two pages.
      await scheduler.wait(0);
    }
    if (log.hasEnded(run.seq)) translator.end(log.endOf(run));
    return translator.tree();
  }

  /** Answers the upgrade to a WebSocket. */
  connect(request: Request): Response {
    const opened = connectionRequestOf(request);
    if (opened === null) return new Response(null, { status: 400 });
    if (this.#isFull()) return new Response(null, { status: 429 });
    const { 0: client, 1: server } = new WebSocketPair();
    this.#deps.ctx.acceptWebSocket(server);
    this.#sockets.open(server, opened);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** Performs the commands of a connection one after the other. */
  async message(socket: WebSocket, text: string | ArrayBuffer): Promise<void> {
    const waiting = this.#waiting.get(socket) ?? { count: 0, last: Promise.resolve() };
    this.#waiting.set(socket, waiting);
    if (waiting.count >= MAX_WAITING_COMMANDS) {
      const message = `More than ${MAX_WAITING_COMMANDS} commands wait: await some answers first`;
      socket.send(JSON.stringify(errorAnswer(null, "invalid_argument", message)));
      return;
    }
    waiting.count += 1;
    const command = toCommand(text);
    const held = command !== null && isSubscription(command) ? this.#sockets.hold(socket) : null;
    waiting.last = waiting.last.then(async () => {
      const answer = await this.#answer(socket, command);
      waiting.count -= 1;
      if (answer !== null && socket.readyState === WebSocket.OPEN) {
        socket.send(JSON.stringify(answer));
      }
      held?.settle();
    });
    await waiting.last;
  }

  closed(socket: WebSocket): void {
    this.#subscriptions.closed(socket);
    // The client waits for the answer to its close.
    if (socket.readyState !== WebSocket.CLOSED) socket.close(1000);
  }

  async #answer(socket: WebSocket, command: Command | null): Promise<CommandAnswer | null> {
    const request = this.#sockets.requestOf(socket);
    if (request === null) return null;
    if (command === null) {
      const message = 'A command is a JSON object with an integer "id" and a "method"';
      return errorAnswer(null, "invalid_argument", message);
    }
    try {
      return await this.#execute(socket, request, command);
    } catch (error) {
      if (error instanceof CommandError) {
        return errorAnswer(command.id, error.error, error.message);
      }
      const fields = { method: command.method, error: String(error) };
      logLine("error", "error", { event: "command_failed", ...fields });
      return errorAnswer(command.id, "unknown_error", "Internal Server Error");
    }
  }

  async #execute(
    socket: WebSocket,
    { caller, thread_id }: ConnectionRequest,
    command: Command,
  ): Promise<CommandAnswer> {
    if (!isSubscription(command)) {
      return this.#deps.commands().execute(caller, thread_id, command);
    }
    const result = await this.#subscriptions.execute(socket, command);
    return { type: "success", id: command.id, result };
  }

  #maySee(filter: Visibility): boolean {
    const { storage } = this.#deps;
    const thread = storage.exists ? storage.thread.find() : null;
    return thread !== null && thread.deleted === 0 && isVisible(thread, filter);
  }

  #isFull(): boolean {
    return this.#readers.size + this.#sockets.size >= MAX_READERS;
  }

  #forgetIfUnread(): void {
    if (!this.isReading()) this.#events.clear();
  }
}

function isSubscription({ method }: Command): boolean {
  return method.startsWith("subscription.");
}

function toCommand(text: string | ArrayBuffer): Command | null {
  if (typeof text !== "string") return null;
  const value = jsonOrUndefined(text);
  if (!isObject(value)) return null;
  const { id, method, params = {} } = value;
  const isNumbered = typeof id === "number" && Number.isInteger(id) && id >= 0;
  if (!isNumbered || typeof method !== "string") return null;
  return isObject(params) ? { id, method, params } : null;
}
