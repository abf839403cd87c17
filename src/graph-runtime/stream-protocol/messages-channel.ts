import { isObject, type JsonObject } from "../../lib/json.ts";
import { MessageStream } from "./message-stream.ts";
import type { ProtocolEvent } from "./protocol-event.ts";

type Active = { stream: MessageStream; namespace: string[]; node: string | undefined };

const ROLES: Record<string, string> = { ai: "ai", human: "human", system: "system" };

/** What a message's start tells of its model, by the names that LangChain gives the same. */
const METADATA: Record<string, string> = {
  ls_provider: "provider",
  ls_model_name: "model",
  ls_model_type: "model_type",
};

/** The channel `messages` of one run: which messages are on their way, and where each of them ends. */
export class MessagesChannel {
  readonly #active = new Map<string, Active>();
  /** Messages that were told to their end: a node that returns one again adds nothing. */
  readonly #ended = new Set<string>();

  /** A `messages` event of the run: a message or a chunk of one, and where it is from. */
  add(graph: readonly string[], data: unknown): ProtocolEvent[] {
    if (!Array.isArray(data)) return [];
    const [message, found]: unknown[] = data;
    if (!isObject(message)) return [];
    const metadata = isObject(found) ? found : {};
    const { id, type, tool_call_chunks } = message;
    const role = ROLES[String(type)];
    // What tools answer is told by the channels `tools` and `values`.
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
    // Only chunks have this member, also where it is empty.
    if (!Array.isArray(tool_call_chunks)) events.push(...this.#end(active));
    return events;
  }

  /** A node has ended, and with it the messages of its models. */
  endBelow(namespace: readonly string[]): ProtocolEvent[] {
    return this.#endWhere((each) => namespace.every((part, at) => each.namespace[at] === part));
  }

  /** The run was taken up again by another process: its messages begin anew. */
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

/** The path of the node, which the graph's own events do not say. */
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
