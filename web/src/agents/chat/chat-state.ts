import type { Checkpoint, Message, ThreadState } from "@langchain/langgraph-sdk";

/** The state of a graph: most have messages, all may have anything. */
export type State = Record<string, unknown> & { messages?: Message[] };

export type Snapshot = ThreadState<State>;

/** A checkpoint as a submit takes it: the thread is the one of the chat. */
export type From = Omit<Checkpoint, "thread_id">;

/** The run that made a state. */
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
