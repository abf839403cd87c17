// Long-term memory: facts about a user outlive the thread, in a namespace of that user.
import {
  getStore,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  StateGraph,
} from "@langchain/langgraph";

type State = typeof MessagesAnnotation.State;

const namespaceOf = (config: LangGraphRunnableConfig): string[] => [
  "memories",
  String(config.configurable?.["user_id"]),
];

async function remember({ messages }: State, config: LangGraphRunnableConfig) {
  const fact = /^Remember: (.*)$/.exec(messages.at(-1)?.text ?? "")?.[1];
  if (fact === undefined) return {};
  const { store } = config;
  if (store === undefined) throw new Error("There is no store");
  await store.put(namespaceOf(config), fact.split(" ")[0] ?? "fact", { fact });
  return {};
}

async function recall({ messages }: State, config: LangGraphRunnableConfig) {
  const query = /^What of (.*)\?$/.exec(messages.at(-1)?.text ?? "")?.[1];
  const options = query === undefined ? { limit: 10 } : { query, limit: 1 };
  const items = (await getStore()?.search(namespaceOf(config), options)) ?? [];
  const facts = items.map(({ value }) => value["fact"]).toSorted();
  return { messages: [{ role: "assistant", content: `I know: ${facts.join("; ")}` }] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("remember", remember)
  .addNode("recall", recall)
  .addEdge("__start__", "remember")
  .addEdge("remember", "recall")
  .compile();

graph.name = "Memory agent";
