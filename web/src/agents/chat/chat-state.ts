import type { Checkpoint, Message, ThreadState } from "@langchain/langgraph-sdk";

/** The state of a graph: most graphs have messages, and any of them may have other values. */
export type State = Record<string, unknown> & { messages?: Message[] };

export type Snapshot = ThreadState<State>;

/** A checkpoint in the form that a submit accepts; its thread is that of the chat. */
export type From = Omit<Checkpoint, "thread_id">;

/** Returns the id of the run that created a state. */
export function runOf(state: Snapshot | undefined): string | undefined {
  const run = (state?.metadata as Record<string, unknown> | undefined)?.["run_id"];
  return typeof run === "string" ? run : undefined;
}

export function textOf(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => ("text" in part && typeof part.text === "string" ? part.text : ""))
    .join("");
}
