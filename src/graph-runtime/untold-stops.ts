import { version } from "@langchain/langgraph/package.json";
import type { ThreadSnapshot } from "./protocol.ts";
import type { GraphChunk } from "./stream-events.ts";

/** LangGraph reports a stop and its interrupts in the run's last values from 0.3 on. */
const TELLS_STOPS = !version.startsWith("0.2.");

/**
 * Returns the stream of a run with interrupts at its end when the run stopped, even for versions of LangGraph
 * that do not report them. The status of the thread, the result of the run and what clients show all depend
 * on them.
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
