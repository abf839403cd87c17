import type { ProtocolEvent as HeardEvent } from "@langchain/langgraph";
import { isObject } from "../../lib/json.ts";
import { CHECKPOINT_POINTERS } from "../protocol.ts";
import type { GraphChunk } from "../stream-events.ts";
import { toWire } from "../wire-json.ts";
import { normalState } from "./normal-messages.ts";
import { CHANNELS, type ProtocolEvent } from "./protocol-event.ts";
import { customData } from "./run-translator.ts";
import { toolEvent } from "./tool-events.ts";

/**
 * Methods whose events are passed on unchanged. Custom events, and states, whose messages are normalised, are
 * converted before this is consulted.
 */
const AS_IT_IS: ReadonlySet<string> = new Set(
  CHANNELS.filter((channel) => channel !== "input" && channel !== "custom"),
);

/** Converts an event that has been translated already into the form in which LangGraph's transformers receive it. */
export function heardOf({ method, namespace, node, data }: ProtocolEvent): HeardEvent {
  return heard(method, namespace, data, node);
}

/**
 * Converts a chunk of the graph's stream into the form in which transformers receive it: with live values,
 * not their JSON.
 */
export function heardOfChunk({ mode, namespace, data }: GraphChunk): HeardEvent {
  if (mode === CHECKPOINT_POINTERS) return heard("checkpoints", namespace, data);
  if (mode === "tools") return heard(mode, namespace, toolEvent(namespace, data)[0]?.data);
  if (mode === "updates") {
    const [node, values] = isObject(data) ? (Object.entries(data)[0] ?? []) : [];
    return heard(mode, namespace, { node, values }, node);
  }
  if (mode !== "custom") return heard(mode, namespace, data);
  // LangGraph treats data with a name as a named event already.
  return heard(mode, namespace, isObject(data) && "name" in data ? data : { payload: data });
}

/**
 * Converts an event that a transformer created into the event that clients receive. A method that is not a
 * channel becomes the name of a custom event.
 */
export function toldOf({ method, params }: HeardEvent): ProtocolEvent {
  const { node, data } = params;
  const namespace = params.namespace.map(String);
  const place = { namespace, ...(node === undefined ? {} : { node }) };
  if (method === "custom") return { ...place, method: "custom", data: customData(data) };
  if (method === "values") return { ...place, method: "values", data: normalState(toWire(data)) };
  if (method === "updates" && isObject(data)) {
    const { node: name, values } = data;
    const of = typeof name === "string" ? { node: name } : {};
    return { ...place, ...of, method: "updates", data: normalState(toWire(values)) };
  }
  if (AS_IT_IS.has(method)) return { ...place, method: method as ProtocolEvent["method"], data };
  const name = method.startsWith("custom:") ? method.slice("custom:".length) : method;
  return { ...place, method: "custom", data: { name, payload: data } };
}

function heard(method: string, namespace: string[], data: unknown, node?: string): HeardEvent {
  const at = { namespace, timestamp: Date.now(), ...(node === undefined ? {} : { node }) };
  return { type: "event", seq: 0, method, params: { ...at, data } };
}
