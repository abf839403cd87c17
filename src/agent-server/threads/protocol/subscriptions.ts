import { z } from "zod";
import { type NoteUnknown, parseKnown } from "../../../lib/unknown-members.ts";
import { type Command, CommandError } from "./commands.ts";
import type { Subscription } from "./connection.ts";
import { type EventFilter, isChannel } from "./event-filter.ts";
import type { EventSockets } from "./event-sockets.ts";

/**
 * Maximum number of subscriptions of closed connections that are remembered for clients that reconnect, and for
 * how many milliseconds.
 */
const MAX_LEFT = 1000;
const LEFT_MS = 120_000;

/** Maximum lengths: no name or path that exists here is longer. */
const MAX_NAME_CHARS = 512;
const MAX_SEGMENTS = 64;
const MAX_LISTED = 100;

const name = z.string().max(MAX_NAME_CHARS);

/** The members of a command with which a client selects events. */
export const filterMembers = {
  channels: z
    .array(
      name.refine(isChannel, {
        message: "There is no such channel",
        params: { type: "value_error" },
      }),
    )
    .min(1)
    .max(MAX_LISTED),
  namespaces: z.array(z.array(name).max(MAX_SEGMENTS)).max(MAX_LISTED).nullish(),
  depth: z.int().min(0).nullish(),
  since: z.int().min(0).nullish(),
};

const subscribeParams = z.strictObject(filterMembers);
const unsubscribeParams = z.strictObject({ subscription_id: z.string() });
const reconnectParams = z.strictObject({
  run_id: z.string(),
  last_event_id: z.string().nullish(),
  subscriptions: z.array(z.string()).max(MAX_LISTED).nullish(),
});

export function toEventFilter(wanted: {
  channels: string[];
  namespaces?: string[][] | null | undefined;
  depth?: number | null | undefined;
}): EventFilter {
  const { channels, namespaces = null, depth = null } = wanted;
  return { channels, namespaces, depth };
}

type SubscriptionsDeps = {
  now: () => number;
  lastSeq: () => number;
  hasRun: (runId: string) => boolean;
  /** Counts the events after a number that the connection's caller may see. */
  countPast: (socket: WebSocket, filter: EventFilter, since: number) => Promise<number>;
};

/** The commands with which a WebSocket subscribes to events. */
export class Subscriptions {
  readonly #sockets: EventSockets;
  readonly #deps: SubscriptionsDeps;
  /** Subscriptions of connections that were closed, by id, the oldest first. */
  readonly #left = new Map<string, { subscription: Subscription; until: number }>();

  constructor(sockets: EventSockets, deps: SubscriptionsDeps) {
    this.#sockets = sockets;
    this.#deps = deps;
  }

  async execute(socket: WebSocket, { method, params }: Command): Promise<Record<string, unknown>> {
    if (method === "subscription.subscribe") return this.#subscribe(socket, params);
    if (method === "subscription.unsubscribe") return this.#unsubscribe(socket, params);
    if (method === "subscription.reconnect") return this.#reconnect(socket, params);
    throw new CommandError("unknown_command", `There is no command "${method}"`);
  }

  closed(socket: WebSocket): void {
    const until = this.#deps.now() + LEFT_MS;
    for (const subscription of this.#sockets.closed(socket)) {
      this.#left.set(subscription.id, { subscription, until });
    }
    for (const [id] of this.#left) {
      if (this.#left.size <= MAX_LEFT) break;
      this.#left.delete(id);
    }
  }

  async #subscribe(socket: WebSocket, params: unknown): Promise<Record<string, unknown>> {
    const { since, ...wanted } = parsedParams(subscribeParams, params);
    const subscription = { id: crypto.randomUUID(), filter: toEventFilter(wanted) };
    const past = await this.#deps.countPast(socket, subscription.filter, since ?? 0);
    this.#add(socket, subscription, since ?? 0);
    return { subscription_id: subscription.id, replayed_events: past };
  }

  #unsubscribe(socket: WebSocket, params: unknown): Record<string, unknown> {
    const { subscription_id } = parsedParams(unsubscribeParams, params);
    if (this.#sockets.unsubscribe(socket, subscription_id) === null) {
      throw noSubscription(subscription_id);
    }
    return {};
  }

  /**
   * Gives a connection the subscriptions of an earlier one, or replays its own ones, after the last event that it
   * has.
   */
  #reconnect(socket: WebSocket, params: unknown): Record<string, unknown> {
    const { run_id, last_event_id, subscriptions } = parsedParams(reconnectParams, params);
    if (!this.#deps.hasRun(run_id)) {
      throw new CommandError("no_such_run", `There is no run ${run_id} on this thread`);
    }
    const since = Number(last_event_id ?? 0);
    const found = (subscriptions ?? []).map((id) => this.#take(socket, id));
    const known = found.filter((subscription) => subscription !== null);
    for (const subscription of known) {
      this.#add(socket, subscription, Number.isInteger(since) && since > 0 ? since : 0);
    }
    return { restored: known.length === found.length && found.length > 0 };
  }

  #take(socket: WebSocket, id: string): Subscription | null {
    const own = this.#sockets.unsubscribe(socket, id);
    if (own !== null) return own;
    const left = this.#left.get(id);
    if (left === undefined || left.until < this.#deps.now()) return null;
    this.#left.delete(id);
    return left.subscription;
  }

  #add(socket: WebSocket, subscription: Subscription, since: number): void {
    if (this.#sockets.subscribe(socket, subscription, Math.min(since, this.#deps.lastSeq())))
      return;
    throw new CommandError(
      "invalid_argument",
      "The connection has too many subscriptions: end some of them first, or use another connection",
    );
  }
}

/**
 * Parses a command's params by a schema. Members that the schema does not know are ignored and noted. Throws a
 * `CommandError` if the params are not valid.
 */
export function parsedParams<S extends z.ZodType>(
  schema: S,
  params: unknown,
  note?: NoteUnknown,
): z.output<S> {
  const parsed = parseKnown(schema, params);
  for (const { path, keys } of parsed.ignored) note?.({ path: ["params", ...path], keys });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = ["params", ...(issue?.path ?? [])].join(".");
  throw new CommandError("invalid_argument", `${path}: ${issue?.message ?? "It is not valid"}`);
}

function noSubscription(id: string): CommandError {
  return new CommandError("no_such_subscription", `There is no subscription "${id}"`);
}
