import { Client } from "langsmith";
import type { TraceEvent } from "./sample-trace.ts";

/** Operations in one request of the client: the limit that `/info` tells it. */
export const OPERATIONS_PER_REQUEST = 100;

/** Returns the official client in the mode that sends only on demand; the bytes are those that it always sends. */
export function manualClient(apiUrl: string, apiKey: string): Client {
  return new Client({ apiUrl, apiKey, manualFlushMode: true, debug: false });
}

/**
 * Gives the events to the client in their order, and makes it send a request for each full batch, with at most
 * `concurrency` in flight. Reports what each batch creates when it has been sent.
 */
export async function sendEvents(
  client: Client,
  events: readonly TraceEvent[],
  concurrency: number,
  onSent: (batch: { runs: number }) => void = () => {},
): Promise<void> {
  const sending = new Set<Promise<void>>();
  for (let start = 0; start < events.length; start += OPERATIONS_PER_REQUEST) {
    const batch = events.slice(start, start + OPERATIONS_PER_REQUEST);
    for (const event of batch) await event.send();
    const runs = batch.filter(({ kind }) => kind === "create").length;
    const sent = client.flush().then(() => {
      sending.delete(sent);
      onSent({ runs });
    });
    sending.add(sent);
    if (sending.size >= concurrency) await Promise.race(sending);
  }
  await Promise.all(sending);
}
