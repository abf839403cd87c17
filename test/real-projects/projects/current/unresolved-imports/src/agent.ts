// A package whose optional dependencies are not installed. Only one of several code paths needs the package.
import { Annotation, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ url: Annotation<string>, title: Annotation<string> });

async function read({ url }: typeof State.State) {
  if (!url.startsWith("browser:")) return { title: `The page at ${url}` };
  const { chromium } = await import("playwright-core");
  const browser = await chromium.connectOverCDP(url.slice("browser:".length));
  return { title: await (await browser.newPage()).title() };
}

export const graph = new StateGraph(State)
  .addNode("read", read)
  .addEdge("__start__", "read")
  .compile();
