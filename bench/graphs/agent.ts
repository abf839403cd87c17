import {
  Annotation,
  END,
  MessagesAnnotation,
  type Runtime,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { z } from "zod";
import { ScriptChatModel } from "../../test/fixtures/support/script-chat-model.ts";
import { ANSWER_WORDS } from "./expected.ts";

const ContextSchema = z.object({
  token_delay_ms: z.number().optional(),
  /** Makes the graph answer with the time at which each chunk was made, instead of words. */
  stamp: z.boolean().optional(),
});

const State = Annotation.Root({ ...MessagesAnnotation.spec, prepared: Annotation<number> });

function* stamps(): Generator<string> {
  for (let index = 0; index < ANSWER_WORDS.length; index += 1) yield `${Date.now()} `;
}

async function answer(
  { messages }: typeof State.State,
  { context, signal }: Runtime<z.infer<typeof ContextSchema>>,
): Promise<typeof State.Update> {
  const model = new ScriptChatModel({
    text: context?.stamp === true ? stamps() : ANSWER_WORDS,
    ...(context?.token_delay_ms ? { tokenDelayMs: context.token_delay_ms } : {}),
  });
  return { messages: [await model.invoke(messages, { signal })] };
}

/** Two nodes. The second one streams its answer in 17 chunks: 16 words and the end. */
export const graph = new StateGraph(State, ContextSchema)
  .addNode("prepare", ({ messages }) => ({ prepared: messages.length }))
  .addNode("answer", answer)
  .addEdge(START, "prepare")
  .addEdge("prepare", "answer")
  .addEdge("answer", END)
  .compile();
