import { isObject, type JsonObject } from "../../lib/json.ts";
import type { RunEvent } from "../protocol.ts";
import { type AgentStatus, AgentTree, type AgentTreeNode, type Cause } from "./agent-tree.ts";
import { MessagesChannel } from "./messages-channel.ts";
import { normalState } from "./normal-messages.ts";
import { loggedEvents, type ProtocolEvent, TOLD_EVENT, TOLD_INSTEAD } from "./protocol-event.ts";
import { toolEvent } from "./tool-events.ts";

export type TranslatedRun = {
  run_id: string;
  graph_id: string;
  /** The ids of the interrupts that the run answers. */
  answers: string[];
};

/** The end of a run, in the form of the root's lifecycle event. */
export type RunEnd = { event: AgentStatus; error?: string; checkpoint?: { id: string } };

/**
 * Translates the log of one run into events of the protocol. The same log always gives the same events, so
 * none of them need to be stored. A translator must be given the log in order, from its first event on.
 */
export class RunTranslator {
  readonly #run: TranslatedRun;
  readonly #tree = new AgentTree();
  readonly #messages = new MessagesChannel();
  readonly #interrupts = new Set<string>();
  #status: AgentStatus = "running";
  /** The events that clients receive in place of the next entry's events; null to send the entry's own. */
  #instead: ProtocolEvent[] | null = null;

  constructor(run: TranslatedRun) {
    this.#run = run;
  }

  translate({ event, data: text }: RunEvent): ProtocolEvent[] {
    const [name = "", ...namespace] = event.split("|");
    if (name === "metadata") return this.#begin(JSON.parse(text));
    if (name === TOLD_EVENT)
      return this.#placed(loggedEvents(text).flatMap((each) => this.#told(each)));
    if (name === TOLD_INSTEAD) {
      this.#instead = loggedEvents(text);
      return [];
    }
    const translated = this.#placed(this.#translate(name, namespace, text));
    const told = this.#instead ?? translated;
    this.#instead = null;
    return told;
  }

  /** Returns the events that the end of the run adds. */
  end(end: RunEnd): ProtocolEvent[] {
    this.#status = end.event;
    return [
      ...this.#messages.endBelow([]),
      ...this.#tree.end([], end.event),
      this.#root(end.event, end),
    ];
  }

  tree(): AgentTreeNode {
    return this.#tree.toJson(this.#status, this.#run.graph_id);
  }

  /** Returns the events, each preceded by the `started` events of the parts of its path that have not started yet. */
  #placed(events: readonly ProtocolEvent[]): ProtocolEvent[] {
    return events.flatMap((each) => this.#tree.begin(each.namespace).concat(each));
  }

  #begin({ attempt }: { attempt?: number }): ProtocolEvent[] {
    this.#instead = null;
    if (attempt !== undefined && attempt > 1) {
      return this.#messages.abandonAll("The run goes on from its last checkpoint");
    }
    const { answers } = this.#run;
    const running = this.#root("running", {});
    if (answers.length === 0) return [running];
    const data = { interrupt_ids: answers };
    return [running, { method: "input.answered", namespace: [], data }];
  }

  /**
   * Returns an event that a transformer added. It is unchanged, except for lifecycle events, which pass
   * through the tree.
   */
  #told(event: ProtocolEvent): ProtocolEvent[] {
    const { method, namespace, data } = event;
    if (method !== "lifecycle") return [event];
    const last = namespace.at(-1);
    // The root starts and ends with its run.
    if (last === undefined || !isObject(data)) return [];
    if (isToolCall(data["cause"])) this.#tree.noteCause(last, data["cause"]);
    const begun = this.#tree.begin(namespace);
    const status = ENDS.find((end) => end === data["event"]);
    return status === undefined ? begun : [...begun, ...this.#tree.end(namespace, status)];
  }

  #translate(name: string, namespace: string[], text: string): ProtocolEvent[] {
    if (name === "messages") return this.#messages.add(namespace, JSON.parse(text));
    if (name === "values") return this.#values(namespace, JSON.parse(text));
    if (name === "updates") return this.#updates(namespace, JSON.parse(text));
    if (name === "tasks") return this.#task(namespace, JSON.parse(text));
    if (name === "tools") return toolEvent(namespace, JSON.parse(text));
    if (name === "custom")
      return [{ method: "custom", namespace, data: customData(JSON.parse(text)) }];
    if (name === "checkpoint-pointers") {
      return [{ method: "checkpoints", namespace, data: JSON.parse(text) }];
    }
    return [];
  }

  #values(namespace: string[], data: unknown): ProtocolEvent[] {
    if (!isObject(data)) return [{ method: "values", namespace, data }];
    const { __interrupt__, ...values } = data;
    const events = this.#requests(namespace, __interrupt__);
    if (Object.keys(values).length === 0) return events;
    return [...events, { method: "values", namespace, data: normalState(values) }];
  }

  #updates(namespace: string[], data: unknown): ProtocolEvent[] {
    if (!isObject(data)) return [];
    return Object.entries(data).flatMap(([node, delta]): ProtocolEvent[] => {
      if (node === "__interrupt__") return this.#requests(namespace, delta);
      return [{ method: "updates", namespace, node, data: normalState(delta) }];
    });
  }

  /** Translates a task event. The end of a task also ends everything below it. */
  #task(namespace: string[], task: unknown): ProtocolEvent[] {
    if (!isObject(task)) return [];
    const node = typeof task["name"] === "string" ? task["name"] : undefined;
    const told: ProtocolEvent = { method: "tasks", namespace, node, data: task };
    const segment = `${node}:${String(task["id"])}`;
    if (!("result" in task)) {
      const { input } = task;
      const call = isObject(input) ? input["lg_tool_call"] : null;
      if (isObject(call) && typeof call["id"] === "string") {
        this.#tree.noteCause(segment, { type: "toolCall", tool_call_id: call["id"] });
      }
      return [told];
    }
    const below = [...namespace, segment];
    const ended = [...this.#messages.endBelow(below), ...this.#tree.end(below, statusOf(task))];
    return [told, ...ended];
  }

  /**
   * Returns a request for each interrupt once, from the innermost graph: the graphs around it repeat the
   * interrupt.
   */
  #requests(namespace: string[], interrupts: unknown): ProtocolEvent[] {
    if (!Array.isArray(interrupts)) return [];
    return interrupts.filter(isObject).flatMap(({ id, value }): ProtocolEvent[] => {
      if (typeof id !== "string" || this.#interrupts.has(id)) return [];
      this.#interrupts.add(id);
      const data = { interrupt_id: id, payload: value };
      return [{ method: "input.requested", namespace, data }];
    });
  }

  /**
   * Creates a lifecycle event of the root. Clients find its run in the event's id, which has this form for
   * that purpose.
   */
  #root(event: AgentStatus, more: Partial<RunEnd>): ProtocolEvent {
    const { run_id, graph_id } = this.#run;
    return {
      method: "lifecycle",
      namespace: [],
      data: { ...more, event, graph_name: graph_id },
      eventId: `synth:${run_id}:${event}`,
    };
  }
}

const ENDS = ["completed", "failed", "interrupted"] as const;

function isToolCall(cause: unknown): cause is Cause {
  return (
    isObject(cause) && cause["type"] === "toolCall" && typeof cause["tool_call_id"] === "string"
  );
}

function statusOf({ error, interrupts }: JsonObject): AgentStatus {
  if (error !== null && error !== undefined) return "failed";
  return Array.isArray(interrupts) && interrupts.length > 0 ? "interrupted" : "completed";
}

/**
 * Wraps data that a graph wrote to the custom stream; with a name when the graph wrote an object with a name
 * and a payload.
 */
export function customData(written: unknown): JsonObject {
  if (!isObject(written)) return { payload: written };
  const { name, payload } = written;
  const isNamed = typeof name === "string" && "payload" in written;
  return isNamed ? { name, payload } : { payload: written };
}
