// A module that does work while it is loaded: it fetches its settings, draws an id, starts timers, and logs.
import { Annotation, StateGraph } from "@langchain/langgraph";
import { getLogger } from "@langchain/langgraph-sdk/logging";

const logger = getLogger();
const response = await fetch(`${process.env.SETTINGS_URL}/settings.json`);
const settings: { greeting: string } = await response.json();
const instance = crypto.randomUUID();

let ticks = 0;
setTimeout(() => ticks++, 1);
setInterval(() => ticks++, 60_000);
logger.info("The settings are read", { greeting: settings.greeting });

const State = Annotation.Root({
  name: Annotation<string>,
  greeting: Annotation<string>,
  instance: Annotation<string>,
});

export const graph = new StateGraph(State)
  .addNode("greet", ({ name }) => ({ greeting: `${settings.greeting}, ${name}`, instance }))
  .addEdge("__start__", "greet")
  .compile();
