import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@langchain/langgraph-sdk";

const RETRY_MS = 100;

export type StreamEvent = { id: string; event: string; data: unknown };

/**
 * Reads a resumable run to its end, whatever happens to the server meanwhile: after each break it joins again after
 * the last event that it got. `events` holds the events so far, also while reading continues.
 */
export async function followRun(
  client: Client,
  run: { threadId: string; runId: string },
  options: { deadline: number; events?: StreamEvent[] },
): Promise<StreamEvent[]> {
  const events = options.events ?? [];
  for (;;) {
    try {
      const lastEventId = events.at(-1)?.id ?? "-1";
      const stream = client.runs.joinStream(run.threadId, run.runId, { lastEventId });
      for await (const { id = "", event, data } of stream) {
        events.push({ id, event: String(event), data });
      }
      return events;
    } catch (error) {
      if (Date.now() > options.deadline) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** Returns the number of the attempt that each `metadata` event announces. */
export function attemptsOf(events: readonly StreamEvent[]): unknown[] {
  return events
    .filter(({ event }) => event === "metadata")
    .map(({ data }) => (data as { attempt?: unknown }).attempt);
}

export function consecutiveIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index));
}
