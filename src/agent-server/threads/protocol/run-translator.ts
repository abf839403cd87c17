import { isObject } from "../../../lib/json.ts";
import type { LoggedEvent } from "../storage/event-frames.ts";
import { type AgentStatus, AgentTree, type AgentTreeNode } from "./agent-tree.ts";
import { MessagesChannel } from "./messages-channel.ts";
import { normalState, parsedArgs } from "./normal-messages.ts";
import type { ProtocolEvent } from "./protocol-event.ts";

type Json = Record<string, unknown>;

export type TranslatedRun = {
  run_id: string;
  graph_id: string;
  /** The interrupts that the run answers. */
  answers: string[];
};

/** How a run has ended, as its root tells. */
export type RunEnd = { event: AgentStatus; error?: string; checkpoint?: { id: string } };

/**
 * Translates the log of one run into events of the protocol. The same log gives the same events, so that nothing of
 * them needs to be stored; a translator must be given the log from its first event on, in order.
 */
export class RunTranslator {
  readonly #run: TranslatedRun;
  readonly #tree = new AgentTree();
  readonly #messages = new MessagesChannel();
  readonly #interrupts = new Set<string>();
  #status: AgentStatus = "running";

  constructor(run: TranslatedRun) {
    this.#run = run;
  }

  translate({ event, data: text }: LoggedEvent): ProtocolEvent[] {
    const [name = "", ...namespace] = event.split("|");
    if (name === "metadata") return this.#begin(JSON.parse(text));
    const translated = this.#translate(name, namespace, text);
    return translated.flatMap((each) => this.#tree.begin(each.namespace).concat(each));
  }

  /** What the end of the run adds. */
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

  #begin({ attempt }: { attempt?: number }): ProtocolEvent[] {
    if (attempt !== undefined && attempt > 1) {
      return this.#messages.abandonAll("The run goes on from its last checkpoint");
    }
    const { answers } = this.#run;
    const running = this.#root("running", {});
    if (answers.length === 0) return [running];
    const data = { interrupt_ids: answers };
    return [running, { method: "input.answered", namespace: [], data }];
  }

  #translate(name: string, namespace: string[], text: string): ProtocolEvent[] {
    if (name === "messages") return this.#messages.add(namespace, JSON.parse(text));
    if (name === "values") return this.#values(namespace, JSON.parse(text));
    if (name === "updates") return this.#updates(namespace, JSON.parse(text));
    if (name === "tasks") return this.#task(namespace, JSON.parse(text));
    if (name === "tools") return toolEvent(namespace, JSON.parse(text));
    if (name === "custom") return [{ method: "custom", namespace, data: custom(JSON.parse(text)) }];
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

  /** The end of a task is the end of all that happened below it. */
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

  /** Each interrupt is asked once, by the innermost graph: those around it repeat it. */
  #requests(namespace: string[], interrupts: unknown): ProtocolEvent[] {
    if (!Array.isArray(interrupts)) return [];
    return interrupts.filter(isObject).flatMap(({ id, value }): ProtocolEvent[] => {
      if (typeof id !== "string" || this.#interrupts.has(id)) return [];
      this.#interrupts.add(id);
      const data = { interrupt_id: id, payload: value };
      return [{ method: "input.requested", namespace, data }];
    });
  }

  /** Clients find the run of a root event in its id, which has this form for that. */
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

function statusOf({ error, interrupts }: Json): AgentStatus {
  if (error !== null && error !== undefined) return "failed";
  return Array.isArray(interrupts) && interrupts.length > 0 ? "interrupted" : "completed";
}

/** What a graph writes by itself; with a name where it writes one beside a payload. */
function custom(written: unknown): Json {
  if (!isObject(written)) return { payload: written };
  const { name, payload } = written;
  const isNamed = typeof name === "string" && "payload" in written;
  return isNamed ? { name, payload } : { payload: written };
}

/** An event of LangGraph's stream mode `tools`, as the protocol has it. */
function toolEvent(namespace: string[], told: unknown): ProtocolEvent[] {
  if (!isObject(told)) return [];
  const data = dataOf(told);
  if (data === null) return [];
  // A tool that is called without a message of a model has no id of a call.
  const tool_call_id = String(told["toolCallId"] ?? told["name"]);
  const { event, ...rest } = data;
  return [{ method: "tools", namespace, data: { event, tool_call_id, ...rest } }];
}

function dataOf({ event, name, input, data, output, error }: Json): Json | null {
  if (event === "on_tool_start") {
    return { event: "tool-started", tool_name: name, input: parsedArgs(input) ?? input };
  }
  if (event === "on_tool_event") {
    return { event: "tool-output-delta", delta: asText(data) };
  }
  if (event === "on_tool_end") return { event: "tool-finished", output };
  if (event === "on_tool_error") {
    return {
      event: "tool-error",
      message: isObject(error) ? asText(error["message"]) : asText(error),
    };
  }
  return null;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
