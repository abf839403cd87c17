import type { Client } from "@langchain/langgraph-sdk";

/** Input of the fixture graph `slow`: `steps` steps, each of which adds the message `<label> step <n>`. */
export type SlowInput = { label: string; steps: number; delay_ms: number };

export function stepTexts({ label, steps }: Pick<SlowInput, "label" | "steps">): string[] {
  return Array.from({ length: steps }, (_, index) => `${label} step ${index + 1}`);
}

/** Returns the texts of the messages in the thread's latest checkpoint. */
export async function messageTexts(client: Client, threadId: string): Promise<string[]> {
  const { values } = await client.threads.getState<{ messages?: { content: string }[] }>(threadId);
  return (values.messages ?? []).map(({ content }) => content);
}
