import type { Client } from "@langchain/langgraph-sdk";
import type { UseStream } from "@langchain/langgraph-sdk/react";
import { useEffect, useEffectEvent, useState } from "react";
import type { State } from "./chat-state.ts";

type Options = {
  agents: Client;
  assistantId: string;
  threadId: string | null;
  stream: Pick<UseStream<State>, "isLoading" | "isThreadLoading" | "joinStream">;
};

export type QueuedRun = { id: string; text: string };

const MODES = ["values", "messages-tuple", "updates", "tasks"] as const;

/**
 * What waits behind the run that is shown. The server has the queue; here it is followed: when a run ends, the next
 * one is joined, also after the page was loaded again and when another page has sent it.
 */
export function useQueuedRuns({ agents, assistantId, threadId, stream }: Options) {
  const [queued, setQueued] = useState<QueuedRun[]>([]);

  async function add(input: Partial<State>, text: string): Promise<void> {
    if (threadId === null) return;
    const run = await agents.runs.create(threadId, assistantId, {
      input,
      multitaskStrategy: "enqueue",
      streamMode: [...MODES],
      streamSubgraphs: true,
      streamResumable: true,
    });
    setQueued((before) => [...before, { id: run.run_id, text }]);
  }

  async function cancel(id: string): Promise<void> {
    if (threadId === null) return;
    await agents.runs.cancel(threadId, id);
    setQueued((before) => before.filter((run) => run.id !== id));
  }

  const follow = useEffectEvent(async ([next, ...rest]: string[]): Promise<void> => {
    setQueued((before) =>
      rest.map((id) => before.find((run) => run.id === id) ?? { id, text: "A message" }),
    );
    if (next !== undefined) await stream.joinStream(next, "-1", { streamMode: [...MODES] });
  });

  const { isLoading, isThreadLoading } = stream;
  useEffect(() => {
    if (threadId === null || isLoading || isThreadLoading) return undefined;
    const controller = new AbortController();
    // What cannot be listed is shown by the next run, or when the page is loaded again.
    unfinished(agents, threadId, controller.signal)
      .then(follow)
      .catch(() => {});
    return () => controller.abort();
  }, [agents, threadId, isLoading, isThreadLoading]);

  return { queued, add, cancel };
}

/** The ids of a thread's runs that have not ended, the oldest first. Rejects when nobody waits for them any more. */
async function unfinished(agents: Client, thread: string, signal: AbortSignal): Promise<string[]> {
  const [running, pending] = await Promise.all([
    agents.runs.list(thread, { status: "running", signal }),
    agents.runs.list(thread, { status: "pending", signal }),
  ]);
  signal.throwIfAborted();
  return [...running, ...pending]
    .toSorted((left, right) => left.created_at.localeCompare(right.created_at))
    .map(({ run_id }) => run_id);
}
