import { Client } from "langsmith";
import type { TraceEvent } from "./sample-trace.ts";

/** What `/info` tells the client is 100; it sends no more in one request. */
export const OPERATIONS_PER_REQUEST = 100;

/** The official client, which sends when it is told to; the bytes are those that it always sends. */
export function manualClient(apiUrl: string, apiKey: string): Client {
  return new Client({ apiUrl, apiKey, manualFlushMode: true, debug: false });
}

/**
 * Gives the events to the client in their order, and has it send a request for each full batch. With
 * `onRequest` requests go out one by one, and it is told what each of them creates.
 */
export async function sendEvents(
  client: Client,
  events: readonly TraceEvent[],
  onRequest: (sent: { runs: number; operations: number }) => void = () => {},
): Promise<void> {
  for (let start = 0; start < events.length; start += OPERATIONS_PER_REQUEST) {
    const batch = events.slice(start, start + OPERATIONS_PER_REQUEST);
    for (const event of batch) await event.send();
    await client.flush();
    const runs = batch.filter(({ kind }) => kind === "create").length;
    onRequest({ runs, operations: batch.length });
  }
}
