/** A page with one thread, as in an app with `useStream` of `@langchain/react`, which uses the streaming protocol. */

import { useMessageMetadata, useStream, type UseStreamReturn } from "@langchain/react";
import { createElement, type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";

type State = Record<string, unknown>;

/** The hook's handle for tests, and the checkpoint before the first message, from which its run can begin again. */
export type Thread = UseStreamReturn<State> & { beforeFirst: string | undefined };

/** The content of the page, as JSON. */
export type ShownThread = {
  thread: string | null;
  loading: boolean;
  texts: string[];
  /** Each text that a message had while it was streamed, since the page was loaded. */
  pieces: string[];
  values: State;
  interrupt: unknown;
  tools: unknown[];
  beforeFirst: string | null;
  error: string | null;
};

const url = new URL(location.href);
const pieces = new Set<string>();
const setting = (name: string): string => url.searchParams.get(name) ?? "";

function App(): ReactNode {
  const [threadId, setThreadId] = useState(url.searchParams.get("thread"));
  const thread = useStream<State>({
    apiUrl: setting("server"),
    // A browser's WebSocket cannot send headers.
    ...(setting("key") === "" ? {} : { apiKey: setting("key") }),
    transport: setting("transport") === "websocket" ? "websocket" : "sse",
    assistantId: setting("graph"),
    threadId,
    onThreadId: (id) => {
      setThreadId(id);
      url.searchParams.set("thread", id);
      history.replaceState(null, "", url);
    },
  });
  const beforeFirst = useMessageMetadata(thread, thread.messages[0]?.id)?.parentCheckpointId;
  Object.assign(globalThis, { thread: { ...thread, beforeFirst } });
  const texts = thread.messages.map(({ text }) => text);
  for (const text of texts) pieces.add(text);
  const shown: ShownThread = {
    thread: threadId,
    loading: thread.isLoading,
    texts,
    pieces: [...pieces],
    values: thread.values,
    interrupt: thread.interrupt?.value ?? null,
    tools: thread.toolCalls.map(({ name, input, output }) => ({ name, input, output })),
    beforeFirst: beforeFirst ?? null,
    error: textOf(thread.error),
  };
  return createElement("pre", null, JSON.stringify(shown));
}

function textOf(error: unknown): string | null {
  if (error === undefined) return null;
  return error instanceof Error ? error.message : (JSON.stringify(error) ?? "unknown");
}

const root = document.getElementById("app");
if (root === null) throw new Error("The page has no place for the app");
createRoot(root).render(createElement(App));
