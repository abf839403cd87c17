import { isObject, type JsonObject } from "../../lib/json.ts";
import { MessageStream } from "./message-stream.ts";
import type { ProtocolEvent } from "./protocol-event.ts";

type Active = { stream: MessageStream; namespace: string[]; node: string | undefined };

const ROLES: Record<string, string> = { ai: "ai", human: "human", system: "system" };

/** LangChain's metadata keys about the model, and the names under which `message-start` sends them. */
const METADATA: Record<string, string> = {
  ls_provider: "provider",
  ls_model_name: "model",
  ls_model_type: "model_type",
};

/** The `messages` channel of one run: tracks which messages are in progress, and where each of them ends. */
export class MessagesChannel {
  readonly #active = new Map<string, Active>();
  /** Messages that have been sent completely. A node that returns one of them again adds no events. */
  readonly #ended = new Set<string>();

  /** Handles a `messages` event of the run: a message or a chunk of one, with its metadata. */
  add(graph: readonly string[], data: unknown): ProtocolEvent[] {
    if (!Array.isArray(data)) return [];
    const [message, found]: unknown[] = data;
    if (!isObject(message)) return [];
    const metadata = isObject(found) ? found : {};
    const { id, type, tool_call_chunks } = message;
    const role = ROLES[String(type)];
    // Messages of tools are covered by the channels `tools` and `values`.
    if (typeof id !== "string" || role === undefined || this.#ended.has(id)) return [];
    const namespace = namespaceOf(graph, metadata);
    const node = nodeOf(metadata);
    const events: ProtocolEvent[] = [];
    let active = this.#active.get(id);
    if (active === undefined) {
      events.push(
        ...this.#endWhere((other) => isSamePlace(other, namespace) && other.stream.isComplete),
      );
      active = { stream: new MessageStream(id, role), namespace, node };
      this.#active.set(id, active);
      events.push(toEvent(active, active.stream.start(startMetadata(metadata))));
    }
    for (const each of active.stream.add(message)) events.push(toEvent(active, each));
    // Only chunks have this member, even when it is empty.
    if (!Array.isArray(tool_call_chunks)) events.push(...this.#end(active));
    return events;
  }

  /** Ends the messages of a node that has ended. */
  endBelow(namespace: readonly string[]): ProtocolEvent[] {
    return this.#endWhere((each) => namespace.every((part, at) => each.namespace[at] === part));
  }

  /**
   * Ends all messages in progress with an error. Called when another process resumes the run, whose messages
   * start again.
   */
  abandonAll(reason: string): ProtocolEvent[] {
    return [...this.#active.values()].flatMap((active) => {
      this.#active.delete(active.stream.id);
      return active.stream.abandon(reason).map((data) => toEvent(active, data));
    });
  }

  #endWhere(isMeant: (active: Active) => boolean): ProtocolEvent[] {
    return [...this.#active.values()].filter(isMeant).flatMap((active) => this.#end(active));
  }

  #end(active: Active): ProtocolEvent[] {
    this.#active.delete(active.stream.id);
    this.#ended.add(active.stream.id);
    return active.stream.finish().map((data) => toEvent(active, data));
  }
}

function toEvent({ namespace, node }: Active, data: JsonObject): ProtocolEvent {
  return { method: "messages", namespace, node, data };
}

/** Returns the path of the node, which the graph's own events do not contain. */
function namespaceOf(graph: readonly string[], metadata: JsonObject): string[] {
  const path = metadata["langgraph_checkpoint_ns"] ?? metadata["checkpoint_ns"];
  const parts = typeof path === "string" ? path.split("|").filter((part) => part !== "") : [];
  return graph.every((part, at) => parts[at] === part) ? parts : [...graph];
}

function nodeOf({ langgraph_node }: JsonObject): string | undefined {
  return typeof langgraph_node === "string" ? langgraph_node : undefined;
}

function startMetadata(metadata: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(METADATA).flatMap(([from, to]) => {
      const value = metadata[from];
      return typeof value === "string" ? [[to, value]] : [];
    }),
  );
}

function isSamePlace(active: Active, namespace: readonly string[]): boolean {
  return active.namespace.join("|") === namespace.join("|");
}
