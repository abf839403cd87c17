import { isObject } from "../lib/json.ts";
import { type BaseMessageChunk, isBaseMessage, isBaseMessageChunk } from "@langchain/core/messages";
import { CHECKPOINT_POINTERS, type RunEvent, type RunStreamMode } from "./protocol.ts";
import { checkpointRefOf } from "./thread-state.ts";
import { isUserKey } from "./run-config.ts";
import { toWireJson } from "./wire-json.ts";

/** One item of LangGraph's own stream. `namespace` is empty for the root graph. */
export type GraphChunk = { namespace: string[]; mode: string; data: unknown };

/** Returns the modes of LangGraph's stream that serve the modes a client asked for. */
export function graphStreamModes(requested: readonly RunStreamMode[]): string[] {
  // `values` is always included: the result of a run is its last values.
  const modes = new Set<string>(["values"]);
  for (const mode of requested) {
    if (mode === "events") continue;
    modes.add(GRAPH_MODES[mode] ?? mode);
  }
  return [...modes];
}

const GRAPH_MODES: Record<string, string> = {
  "messages-tuple": "messages",
  [CHECKPOINT_POINTERS]: "checkpoints",
};

/**
 * Returns whether, with these modes, LangGraph's pointers to checkpoints are sent on before the `values` they
 * belong to. LangGraph emits them when subgraphs are streamed.
 */
export function tellsCheckpoints(requested: readonly RunStreamMode[]): boolean {
  if (requested.includes("checkpoints") || requested.includes(CHECKPOINT_POINTERS)) return false;
  return requested.includes("values") || requested.includes("messages");
}

/** Translates LangGraph's stream into the API's named events. */
export class EventMapper {
  readonly #modes: ReadonlySet<string>;
  readonly #tellsCheckpoints: boolean;
  readonly #partials = new Map<string, BaseMessageChunk>();
  readonly #completed = new Set<string>();

  constructor(requested: readonly RunStreamMode[]) {
    this.#modes = new Set(requested);
    this.#tellsCheckpoints = tellsCheckpoints(requested);
  }

  map(chunk: GraphChunk): RunEvent[] {
    const { namespace, mode, data } = chunk;
    const events: RunEvent[] = [];
    if (mode === "messages") {
      if (this.#modes.has("messages-tuple")) {
        events.push(toEvent(withNamespace("messages", namespace), data));
      }
      if (this.#modes.has("messages")) events.push(...this.#partial(data));
      return events;
    }
    if (mode === "checkpoints" && isEnvelope(data)) {
      if (this.#tellsCheckpoints) events.push(toEvent(withNamespace(mode, namespace), data));
      return events;
    }
    if (this.#modes.has(mode)) {
      events.push(toEvent(withNamespace(mode, namespace), apiForm(mode, data)));
    }
    if (mode === "values" && this.#modes.has("messages")) events.push(...this.#complete(data));
    return events;
  }

  #partial(data: unknown): RunEvent[] {
    if (!Array.isArray(data)) return [];
    const [message, metadata]: unknown[] = data;
    if (!isBaseMessage(message) || !isBaseMessageChunk(message) || !message.id) return [];
    const { id } = message;
    const known = this.#partials.get(id);
    const merged = known === undefined ? message : known.concat(message);
    this.#partials.set(id, merged);
    const events: RunEvent[] = [];
    if (known === undefined) events.push(toEvent("messages/metadata", { [id]: { metadata } }));
    events.push(toEvent("messages/partial", [merged]));
    return events;
  }

  #complete(data: unknown): RunEvent[] {
    if (typeof data !== "object" || data === null || !("messages" in data)) return [];
    const messages: unknown[] = Array.isArray(data.messages) ? data.messages : [data.messages];
    const fresh = messages.filter((message) => {
      if (!isBaseMessage(message) || !message.id || this.#completed.has(message.id)) return false;
      this.#completed.add(message.id);
      return true;
    });
    return fresh.length > 0 ? [toEvent("messages/complete", fresh)] : [];
  }
}

function toEvent(event: string, data: unknown): RunEvent {
  return { event, data: toWireJson(data) };
}

function withNamespace(event: string, namespace: string[]): string {
  return namespace.length > 0 ? `${event}|${namespace.join("|")}` : event;
}

/**
 * Returns whether the data is the small pointer `{id, step, source}` that LangGraph emits before values; the
 * mode `checkpoints` needs snapshots.
 */
function isEnvelope(data: unknown): boolean {
  return typeof data === "object" && data !== null && !("values" in data);
}

function apiForm(mode: string, data: unknown): unknown {
  if (mode === "checkpoints") return checkpointPayload(data);
  if (mode === "tasks") return taskPayload(data);
  if (mode !== "debug" || !isObject(data)) return data;
  if (data["type"] === "checkpoint")
    return { ...data, payload: checkpointPayload(data["payload"]) };
  if (data["type"] === "task_result") return { ...data, payload: taskPayload(data["payload"]) };
  return data;
}

function checkpointPayload(payload: unknown): unknown {
  if (!isObject(payload)) return payload;
  const { config, parentConfig, tasks, ...rest } = payload;
  return {
    ...rest,
    config: publicConfig(config),
    parent_config: publicConfig(parentConfig),
    checkpoint: checkpointRefOf(config),
    parent_checkpoint: checkpointRefOf(parentConfig),
    tasks: Array.isArray(tasks) ? tasks.map(taskPayload) : [],
  };
}

/** Shows `state` as `checkpoint`. A task whose node is a graph carries that graph's config as `state`. */
function taskPayload(task: unknown): unknown {
  if (!isObject(task)) return task;
  const checkpoint = checkpointRefOf(task["state"]);
  if (checkpoint === null) return task;
  const { state: _state, ...rest } = task;
  return { ...rest, checkpoint };
}

/**
 * Removes what clients must not see: LangGraph's internal configurable keys hold live objects, callbacks are
 * not data, and users are private.
 */
function publicConfig(config: unknown): unknown {
  if (!isObject(config) || !isObject(config["configurable"])) return config;
  const configurable = Object.fromEntries(
    Object.entries(config["configurable"]).filter(
      ([key]) => !key.startsWith("__") && !isUserKey(key),
    ),
  );
  return { configurable };
}
