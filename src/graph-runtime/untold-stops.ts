import { version } from "@langchain/langgraph/package.json";
import type { ThreadSnapshot } from "./protocol.ts";
import type { GraphChunk } from "./stream-events.ts";

/** From 0.3 on, the last values of a run that stops say so, and what it waits for. */
const TELLS_STOPS = !version.startsWith("0.2.");

/**
 * The stream of a run, whose end says that it stopped and what it waits for, also where LangGraph does not: the
 * status of the thread, the result of the run and what clients show all depend on it.
 */
export function withStops(
  chunks: AsyncIterable<GraphChunk>,
  readSnapshot: () => Promise<ThreadSnapshot | null>,
): AsyncIterable<GraphChunk> {
  return TELLS_STOPS ? chunks : addStop(chunks, readSnapshot);
}

async function* addStop(
  chunks: AsyncIterable<GraphChunk>,
  readSnapshot: () => Promise<ThreadSnapshot | null>,
): AsyncGenerator<GraphChunk> {
  yield* chunks;
  const snapshot = await readSnapshot();
  if (snapshot === null || snapshot.next.length === 0) return;
  const interrupts = Object.values(snapshot.interrupts).flat();
  yield { namespace: [], mode: "values", data: { __interrupt__: interrupts } };
}
