import { AIMessage, SystemMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, type Runtime, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import type { z } from "zod";
import { createChatModel } from "./chat-model.ts";
import { ContextSchema, readSettings } from "./context.ts";
import { tools } from "./tools.ts";

type State = typeof MessagesAnnotation.State;

async function callModel(
  { messages }: State,
  runtime: Runtime<z.infer<typeof ContextSchema>>,
): Promise<typeof MessagesAnnotation.Update> {
  const settings = readSettings(runtime.context ?? runtime.configurable);
  const model = await createChatModel({ tokenDelayMs: settings.token_delay_ms });
  const withTools = model.bindTools?.(tools) ?? model;
  const answer = await withTools.invoke([new SystemMessage(settings.system_prompt), ...messages], {
    signal: runtime.signal,
  });
  return { messages: [answer] };
}

function afterModel({ messages }: State): "tools" | typeof END {
  const last = messages.at(-1);
  return AIMessage.isInstance(last) && (last.tool_calls?.length ?? 0) > 0 ? "tools" : END;
}

export const graph = new StateGraph(MessagesAnnotation, ContextSchema)
  .addNode("agent", callModel)
  .addNode("tools", new ToolNode(tools))
  .addEdge(START, "agent")
  .addConditionalEdges("agent", afterModel, ["tools", END])
  .addEdge("tools", "agent")
  .compile();
