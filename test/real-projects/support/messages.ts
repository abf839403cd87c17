import type { Client } from "@langchain/langgraph-sdk";

type Message = {
  id?: string;
  type: string;
  content: unknown;
  tool_calls?: { name: string; args: unknown }[];
};

export type Conversation = Record<string, unknown> & { messages: Message[] };

export function asked(content: string): { messages: { role: string; content: string }[] } {
  return { messages: [{ role: "user", content }] };
}

/** Returns the messages of a state as types and texts. Tool calls are given as their names and arguments. */
export function said(values: unknown): [type: string, text: unknown][] {
  return (values as Conversation).messages.map(({ type, content, tool_calls = [] }) => [
    type,
    tool_calls.length > 0 ? tool_calls.map(({ name, args }) => ({ name, args })) : textOf(content),
  ]);
}

/** Returns the model's tokens in a run, from the stream mode `messages-tuple`. */
export async function tokensOf(client: Client, graph: string, input: object): Promise<string[]> {
  const tokens: string[] = [];
  const stream = client.runs.stream(null, graph, {
    input: input as Record<string, unknown>,
    streamMode: ["messages-tuple"],
    streamSubgraphs: true,
  });
  for await (const { event, data } of stream) {
    if (event === "error") throw new Error(JSON.stringify(data));
    if (!event.startsWith("messages")) continue;
    const [{ type, content }] = data as unknown as [Message];
    if (type === "AIMessageChunk" || type === "ai") tokens.push(textOf(content));
  }
  return tokens.filter((token) => token !== "");
}

/** Providers send text either as a string or as a list of blocks. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return (content as { text?: string }[]).map(({ text = "" }) => text).join("");
}
