// Each run chooses its model, among those whose packages are installed and others.
import { type LangGraphRunnableConfig, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { initChatModel } from "langchain/chat_models/universal";

async function answer(
  { messages }: typeof MessagesAnnotation.State,
  config: LangGraphRunnableConfig,
) {
  const model = await initChatModel(config.configurable?.["model"], { temperature: 0 });
  return { messages: [await model.invoke(messages)] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", answer)
  .addEdge("__start__", "answer")
  .compile();
