/** A page that shows a graph's UI components, without being built with them. */

import { useStream } from "@langchain/langgraph-sdk/react";
import { LoadExternalComponent, type UIMessage } from "@langchain/langgraph-sdk/react-ui";
import { createElement, type ReactNode } from "react";
import { createRoot } from "react-dom/client";

const { searchParams } = new URL(location.href);
const setting = (name: string): string => searchParams.get(name) ?? "";

function App(): ReactNode {
  const stream = useStream({
    apiUrl: setting("server"),
    apiKey: setting("key"),
    assistantId: "weather",
  });
  Object.assign(globalThis, { submit: (city: string) => stream.submit({ city }) });
  const messages = (stream.values["ui"] ?? []) as UIMessage[];
  const shown = messages.map((message) =>
    createElement(LoadExternalComponent, { key: message.id, stream, message }),
  );
  return createElement("main", null, ...shown);
}

const root = document.getElementById("app");
if (root === null) throw new Error("The page has no place for the app");
createRoot(root).render(createElement(App));
