import { type CommandParams, END, Send } from "@langchain/langgraph";
import type { Graph } from "./graph-registry.ts";
import type { CommandSpec, SendSpec } from "./protocol.ts";

/** Converts the API's `command` object into the arguments of LangGraph's Command; absent keys stay absent. */
export function toCommand(spec: CommandSpec): CommandParams {
  const { goto, update, resume } = spec;
  return {
    ...(goto !== undefined && goto !== null
      ? { goto: Array.isArray(goto) ? goto.map(toSend) : toSend(goto) }
      : {}),
    ...(update !== undefined && update !== null ? { update } : {}),
    ...(resume !== undefined ? { resume } : {}),
  };
}

/** Throws for a `goto` that names no node of the graph. LangGraph would ignore it silently. */
export function checkGoto(spec: CommandSpec, graph: Graph): void {
  const { goto } = spec;
  if (goto === undefined || goto === null) return;
  for (const target of Array.isArray(goto) ? goto : [goto]) {
    const node = typeof target === "string" ? target : target.node;
    if (node !== END && !Object.hasOwn(graph.nodes, node)) {
      throw new Error(`command.goto: the graph has no node "${node}"`);
    }
  }
}

function toSend(target: string | SendSpec): string | Send {
  return typeof target === "string" ? target : new Send(target.node, target.input);
}
