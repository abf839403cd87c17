import { Client } from "@langchain/langgraph-sdk";
import { checkAnswered, QUESTION } from "../support/side.ts";
import type { CountedPlatform } from "./counted-platform.ts";

/** Returns a client of an agent server that never retries. */
export function clientOf({ apiKey }: Pick<CountedPlatform, "apiKey">, apiUrl: string): Client {
  return new Client({ apiUrl, apiKey, callerOptions: { maxRetries: 0 } });
}

/** Creates a thread, starts a run on it, and waits for the answer. */
export async function waitOnThread(client: Client): Promise<void> {
  const { thread_id } = await client.threads.create();
  const values = await client.runs.wait(thread_id, "agent", { input: { messages: [QUESTION] } });
  checkAnswered(values as Parameters<typeof checkAnswered>[0]);
}

export type ChunkedStream = { count: number; resumable: boolean; delayMs: number };

/**
 * Creates a thread with a run that streams `count` chunks. Returns the arrival time of each chunk, in ms since the
 * run's request.
 */
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

/**
 * Returns the milliseconds from the request of a run on an existing thread to its first event. Reads the stream to its
 * end.
 */
export async function firstEventMs(client: Client, threadId: string): Promise<number> {
  const startedAt = performance.now();
  const stream = client.runs.stream(threadId, "agent", { input: { messages: [QUESTION] } });
  let firstMs = Infinity;
  for await (const _event of stream) firstMs = Math.min(firstMs, performance.now() - startedAt);
  return firstMs;
}
