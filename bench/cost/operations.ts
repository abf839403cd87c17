import { Client } from "@langchain/langgraph-sdk";
import { checkAnswered, QUESTION } from "../support/side.ts";
import type { CountedPlatform } from "./counted-platform.ts";

/** A client of an agent server that tries nothing again. */
export function clientOf({ apiKey }: Pick<CountedPlatform, "apiKey">, apiUrl: string): Client {
  return new Client({ apiUrl, apiKey, callerOptions: { maxRetries: 0 } });
}

/** A new thread, and a run on it whose answer is waited for. */
export async function waitOnThread(client: Client): Promise<void> {
  const { thread_id } = await client.threads.create();
  const values = await client.runs.wait(thread_id, "agent", { input: { messages: [QUESTION] } });
  checkAnswered(values as Parameters<typeof checkAnswered>[0]);
}

export type ChunkedStream = { count: number; resumable: boolean; delayMs: number };

/** A new thread, and a run that streams so many chunks; returns when each came, in ms from the request of the run. */
export async function streamOnThread(
  client: Client,
  { count, resumable, delayMs }: ChunkedStream,
): Promise<number[]> {
  const { thread_id } = await client.threads.create();
  const startedAt = performance.now();
  const stream = client.runs.stream(thread_id, "writer", {
    input: { count, size: 20, delay_ms: delayMs },
    streamMode: "custom",
    streamResumable: resumable,
  });
  const times: number[] = [];
  for await (const { event } of stream) {
    if (event === "custom") times.push(performance.now() - startedAt);
  }
  if (times.length !== count) throw new Error(`The stream had ${times.length} chunks`);
  return times;
}

/** From the request of a run on an existing thread to its first event, in ms. The stream is read to its end. */
export async function firstEventMs(client: Client, threadId: string): Promise<number> {
  const startedAt = performance.now();
  const stream = client.runs.stream(threadId, "agent", { input: { messages: [QUESTION] } });
  let firstMs = Infinity;
  for await (const _event of stream) firstMs = Math.min(firstMs, performance.now() - startedAt);
  return firstMs;
}
