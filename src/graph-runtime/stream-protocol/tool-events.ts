import { isObject, type JsonObject } from "../../lib/json.ts";
import { parsedArgs } from "./normal-messages.ts";
import type { ProtocolEvent } from "./protocol-event.ts";

/** Converts an event of LangGraph's stream mode `tools` into the protocol's form. */
export function toolEvent(namespace: string[], told: unknown): ProtocolEvent[] {
  if (!isObject(told)) return [];
  const data = dataOf(told);
  if (data === null) return [];
  // A tool that is called without a model's message has no call id.
  const tool_call_id = String(told["toolCallId"] ?? told["name"]);
  const { event, ...rest } = data;
  return [{ method: "tools", namespace, data: { event, tool_call_id, ...rest } }];
}

function dataOf({ event, name, input, data, output, error }: JsonObject): JsonObject | null {
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
