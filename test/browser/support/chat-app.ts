/** A page with one chat, as in an app: `useStream` does all that concerns the server. */

import { type UseStream, useStream } from "@langchain/langgraph-sdk/react";
import { createElement, type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";

type State = Record<string, unknown> & {
  messages: { id?: string; type?: string; content: unknown }[];
};

/** The hook's handle, by which tests do what a user would do. */
export type Chat = UseStream<State>;

/** The content of the page, as JSON. */
export type Shown = {
  thread: string | null;
  loading: boolean;
  texts: unknown[];
  values: Record<string, unknown>;
  interrupt: unknown;
  branches: string[];
  /** Arguments of the calls of `onToolEvent` since the page was loaded. */
  tools: unknown[];
  errors: string[];
};

const url = new URL(location.href);
const setting = (name: string): string => url.searchParams.get(name) ?? "";
const tools: unknown[] = [];
const errors: string[] = [];

function App(): ReactNode {
  const [thread, setThread] = useState(url.searchParams.get("thread"));
  const chat = useStream<State>({
    apiUrl: setting("server"),
    apiKey: setting("key"),
    assistantId: setting("graph"),
    threadId: thread,
    onThreadId: (id) => {
      setThread(id);
      url.searchParams.set("thread", id);
      history.replaceState(null, "", url);
    },
    // The hook requests the stream mode only with a listener, and older servers refuse it.
    ...(setting("tools") === "" ? {} : { onToolEvent: (event) => tools.push(event) }),
    onError: (error) => errors.push(String(error)),
    reconnectOnMount: true,
    fetchStateHistory: true,
  });
  Object.assign(globalThis, { chat });
  const shown: Shown = {
    thread,
    loading: chat.isLoading,
    texts: chat.messages.map(({ content }) => content),
    values: chat.values,
    interrupt: chat.interrupt?.value ?? null,
    branches: chat.messages.flatMap(
      (message) => chat.getMessagesMetadata(message)?.branchOptions ?? [],
    ),
    tools,
    errors,
  };
  return createElement("pre", null, JSON.stringify(shown));
}

const root = document.getElementById("app");
if (root === null) throw new Error("The page has no place for the app");
createRoot(root).render(createElement(App));
