import type { ProtocolEvent } from "../../../graph-runtime/stream-protocol/protocol-event.ts";

/** An event with its number, encoded once for all its readers. */
export type ProtocolFrame = {
  seq: number;
  channel: string;
  namespace: string[];
  /** The envelope as JSON text. */
  text: string;
  /** Returns the envelope as a server-sent event; it is encoded when the first reader needs it. */
  bytes: () => Uint8Array;
};

/** Assigns a number to the event. `at` is the time at which it happened, in epoch milliseconds. */
export function toProtocolFrame(event: ProtocolEvent, seq: number, at: number): ProtocolFrame {
  const { method, namespace, node, data, eventId = String(seq) } = event;
  const params = { namespace, timestamp: at, ...(node === undefined ? {} : { node }), data };
  const text = JSON.stringify({ type: "event", event_id: eventId, seq, method, params });
  let bytes: Uint8Array | undefined;
  return {
    seq,
    channel: channelOf(event),
    namespace,
    text,
    bytes: () =>
      (bytes ??= new TextEncoder().encode(`event: ${method}\ndata: ${text}\nid: ${eventId}\n\n`)),
  };
}

function channelOf({ method, data }: ProtocolEvent): string {
  if (method === "input.requested" || method === "input.answered") return "input";
  if (method !== "custom") return method;
  const { name } = data as { name?: string };
  return name === undefined ? "custom" : `custom:${name}`;
}
