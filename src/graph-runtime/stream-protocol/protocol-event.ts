import { isObject } from "../../lib/json.ts";

/** The channels that a client can subscribe to; `custom:<name>` is a part of `custom`. */
export const CHANNELS = [
  "values",
  "updates",
  "messages",
  "tools",
  "lifecycle",
  "input",
  "checkpoints",
  "tasks",
  "custom",
] as const;

type Method = Exclude<(typeof CHANNELS)[number], "input"> | "input.requested" | "input.answered";

/** An event of a run, before it has its position among the events of the thread. */
export type ProtocolEvent = {
  method: Method;
  /** The path of graphs and nodes that the event comes from; empty for the root graph. */
  namespace: string[];
  node?: string | undefined;
  data: unknown;
  /** Set only when it differs from the sequence number as text. */
  eventId?: string;
};

/**
 * Parses the events of a log entry that the graph host wrote. Malformed events are left out, because the
 * host's isolate runs untrusted code.
 */
export function loggedEvents(text: string): ProtocolEvent[] {
  const logged: unknown = JSON.parse(text);
  return (Array.isArray(logged) ? logged : [logged]).filter(isProtocolEvent);
}

function isProtocolEvent(value: unknown): value is ProtocolEvent {
  if (!isObject(value)) return false;
  const { method, namespace, data } = value;
  if (!Array.isArray(namespace) || namespace.some((part) => typeof part !== "string")) return false;
  return METHODS.has(method) && (method !== "custom" || isObject(data));
}

const METHODS: ReadonlySet<unknown> = new Set([...CHANNELS, "input.requested", "input.answered"]);

/** Name of a log entry of a run: one event of the protocol that a stream transformer adds, as JSON. */
export const TOLD_EVENT = "protocol-event";

/** Name of a log entry of a run: the list of events that clients receive in place of those of the next entry. */
export const TOLD_INSTEAD = "protocol-instead";

/** Returns whether a log entry concerns only clients of the streaming protocol. */
export function isProtocolEntry(name: string): boolean {
  return name === TOLD_EVENT || name === TOLD_INSTEAD;
}
