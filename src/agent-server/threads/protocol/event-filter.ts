import { CHANNELS } from "../../../graph-runtime/stream-protocol/protocol-event.ts";
import type { ProtocolFrame } from "./event-frame.ts";

/** Selects the events that a reader gets. */
export type EventFilter = {
  channels: string[];
  /** Selects events at or below one of these paths; null selects all. */
  namespaces: string[][] | null;
  /** Maximum number of levels that an event may be below its path; null for no maximum. */
  depth: number | null;
};

const KNOWN: ReadonlySet<string> = new Set(CHANNELS);

export function isChannel(name: string): boolean {
  return KNOWN.has(name) || (name.startsWith("custom:") && name.length > "custom:".length);
}

export function isWanted(frame: ProtocolFrame, filter: EventFilter): boolean {
  return isInChannels(frame.channel, filter.channels) && isBelow(frame.namespace, filter);
}

function isInChannels(channel: string, channels: readonly string[]): boolean {
  return (
    channels.includes(channel) || (channel.startsWith("custom:") && channels.includes("custom"))
  );
}

function isBelow(namespace: readonly string[], { namespaces, depth }: EventFilter): boolean {
  if (namespaces === null || namespaces.length === 0) {
    return depth === null || namespace.length <= depth;
  }
  return namespaces.some(
    (prefix) =>
      startsWith(namespace, prefix) &&
      (depth === null || namespace.length - prefix.length <= depth),
  );
}

/** Whether the path begins with the prefix. A segment without an id matches each execution of the node. */
export function startsWith(namespace: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((wanted, index) => {
    const segment = namespace[index];
    if (segment === undefined || segment === wanted) return segment === wanted;
    return !wanted.includes(":") && segment.split(":", 1)[0] === wanted;
  });
}
