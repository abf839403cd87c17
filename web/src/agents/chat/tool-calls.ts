import type { Message } from "@langchain/langgraph-sdk";
import { textOf } from "./chat-state.ts";

export type CalledTool = {
  id: string;
  name: string;
  args: unknown;
  /** Null until the tool has returned. */
  result: string | null;
  isError: boolean;
};

/** Returns the tools that a message calls, each with its result from the conversation. */
export function toolCallsOf(message: Message, all: readonly Message[]): CalledTool[] {
  if (message.type !== "ai") return [];
  return (message.tool_calls ?? []).map(({ id, name, args }, index) => {
    const answer = all.find((other) => other.type === "tool" && other.tool_call_id === id);
    return {
      id: id ?? String(index),
      name,
      args,
      result: answer === undefined ? null : textOf(answer.content),
      isError: answer?.type === "tool" && answer.status === "error",
    };
  });
}
