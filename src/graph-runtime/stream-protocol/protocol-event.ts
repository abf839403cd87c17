import { isObject } from "../../lib/json.ts";

/** The channels that a client can ask for; `custom:<name>` is a part of `custom`. */
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

/** What a run did, before it has its place among the events of the thread. */
export type ProtocolEvent = {
  method: Method;
  /** The path of graphs and nodes that it comes from; the root graph has none. */
  namespace: string[];
  node?: string | undefined;
  data: unknown;
  /** Where it is not the sequence number as text. */
  eventId?: string;
};

/** The events of an entry that the graph host has made: what is none is left out, because its isolate runs foreign code. */
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

/** In the log of a run: one event of the protocol that a stream transformer adds, as JSON. */
export const TOLD_EVENT = "protocol-event";

/** In the log of a run: the list of events that readers are told in place of those of the next entry. */
export const TOLD_INSTEAD = "protocol-instead";

/** Whether an entry of the log is for readers of the streaming protocol alone. */
export function isProtocolEntry(name: string): boolean {
  return name === TOLD_EVENT || name === TOLD_INSTEAD;
}
