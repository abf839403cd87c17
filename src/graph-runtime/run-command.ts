import { type CommandParams, END, Send } from "@langchain/langgraph";
import type { Graph } from "./graph-registry.ts";
import type { CommandSpec, SendSpec } from "./protocol.ts";

/** The API's `command` object as the arguments of LangGraph's Command; absent keys stay absent. */
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

/** LangGraph ignores a goto to nowhere; whoever asked for it should hear. */
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
