import { type CommandParams, Send } from "@langchain/langgraph";
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

function toSend(target: string | SendSpec): string | Send {
  return typeof target === "string" ? target : new Send(target.node, target.input);
}
