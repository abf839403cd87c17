import type { Client } from "@langchain/langgraph-sdk";
import type { UseStream } from "@langchain/langgraph-sdk/react";
import { useEffect, useEffectEvent, useState } from "react";
import type { State } from "./chat-state.ts";
import { untilReached } from "./connection.ts";

type Options = {
  agents: Client;
  assistantId: string;
  threadId: string | null;
  stream: Pick<UseStream<State>, "isLoading" | "isThreadLoading" | "joinStream">;
  /** The run that was read last. The server only lists it while it has not ended. */
  lastRun: () => string | null;
};

export type QueuedRun = { id: string; text: string };

const MODES = ["values", "messages-tuple", "updates", "tasks"] as const;

/**
 * Follows the runs that are queued behind the one that is shown. The queue is on the server: when a run ends,
 * the next one is joined, even after the page was reloaded or when another page has sent it.
 */
export function useQueuedRuns({ agents, assistantId, threadId, stream, lastRun }: Options) {
  const [queued, setQueued] = useState<QueuedRun[]>([]);
  const [isLost, setLost] = useState(false);

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

  const follow = useEffectEvent(
    async ([next, ...rest]: string[], wasLost: boolean): Promise<void> => {
      setLost(false);
      setQueued((before) =>
        rest.map((id) => before.find((run) => run.id === id) ?? { id, text: "A message" }),
      );
      // A run that ended while the server could not be reached has output that was not read.
      const joined = next ?? (wasLost ? lastRun() : null);
      if (joined !== null) await stream.joinStream(joined, "-1", { streamMode: [...MODES] });
    },
  );

  const { isLoading, isThreadLoading } = stream;
  useEffect(() => {
    if (threadId === null || isLoading || isThreadLoading) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    let wasLost = false;
    const onLost = (): void => {
      wasLost = true;
      setLost(true);
    };
    // Runs that the server could not list are shown with the next run, or when the page is reloaded.
    untilReached(() => unfinished(agents, threadId, signal), { signal, onLost })
      .then((ids) => follow(ids, wasLost))
      .catch(() => setLost(false));
    return () => controller.abort();
  }, [agents, threadId, isLoading, isThreadLoading]);

  return { queued, isLost, add, cancel };
}

/** Returns the ids of a thread's runs that have not ended, the oldest first. Rejects when the signal is aborted. */
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
