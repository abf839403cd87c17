import type { Client, Command } from "@langchain/langgraph-sdk";
import { useStream } from "@langchain/langgraph-sdk/react";
import { useRef, useState } from "react";
import type { From, State } from "./chat-state.ts";
import { isConnectionLost } from "./connection.ts";
import { useActiveTasks } from "./use-active-tasks.ts";
import { useQueuedRuns } from "./use-queued-runs.ts";

/** Enough for the branches of a long conversation, and still bounded. */
const HISTORY = { limit: 50 };

type Options = {
  agents: Client;
  assistantId: string;
  threadId: string | null;
  onThreadId: (id: string) => void;
};

export type Chat = ReturnType<typeof useChat>;

/** Runs one conversation: combines the official hook with a queue of the messages that are sent during a run. */
export function useChat({ agents, assistantId, threadId, onThreadId }: Options) {
  const [error, setError] = useState<unknown>(null);
  const runId = useRef<string | null>(null);
  const tasks = useActiveTasks();
  const stream = useStream<State>({
    client: agents,
    assistantId,
    threadId,
    onThreadId,
    messagesKey: "messages",
    reconnectOnMount: true,
    fetchStateHistory: HISTORY,
    onCreated: (run) => (runId.current = run.run_id),
    onMetadataEvent: (data) => (runId.current = data.run_id),
    onTaskEvent: tasks.onTask,
    onFinish: tasks.clear,
    onStop: tasks.clear,
    onError: (problem) => {
      tasks.clear();
      // A run that has begun continues. The queue joins it when the server is reachable again, and shows
      // meanwhile that it is not.
      setError(isConnectionLost(problem) && runId.current !== null ? null : problem);
    },
  });
  const queue = useQueuedRuns({
    agents,
    assistantId,
    threadId,
    stream,
    lastRun: () => runId.current,
  });

  /** Sends the input at once, or queues it while a run is in progress. `from` is the checkpoint to continue from. */
  async function send(input: Partial<State>, shown: string, from?: From): Promise<void> {
    setError(null);
    if (stream.isLoading && threadId !== null) {
      await queue.add(input, shown).catch(setError);
      return;
    }
    runId.current = null;
    await stream.submit(input, {
      optimisticValues: (before) => withMessages(before, input),
      streamSubgraphs: true,
      ...(from === undefined ? {} : { checkpoint: from }),
    });
  }

  async function resume(command: Command): Promise<void> {
    setError(null);
    runId.current = null;
    await stream.submit(null, { command, streamSubgraphs: true });
  }

  /** Cancels the run on the server as well, instead of only ending the stream. */
  async function stop(): Promise<void> {
    const run = runId.current;
    if (threadId !== null && run !== null) {
      await agents.runs.cancel(threadId, run).catch(setError);
    }
    await stream.stop();
  }

  return { stream, queue, active: tasks.active, error, send, resume, stop };
}

function withMessages(before: State, { messages }: Partial<State>): Partial<State> {
  return messages === undefined ? before : { messages: [...(before.messages ?? []), ...messages] };
}
