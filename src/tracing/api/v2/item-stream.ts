import { findRuns, type RunsQuery } from "../../query/find-runs.ts";
import type { PlacedRun } from "../../query/run-source.ts";
import { TooManyTurns, Turns } from "../../query/turns.ts";
import type { RunPosition } from "../../model/run-page.ts";
import { jsonStreamResponse } from "../json-stream.ts";
import { type ItemChunk, itemsJson, type JsonPart, nextLimit } from "../json-parts.ts";

/** Maximum number of runs in memory at once: each may have several payloads of up to 64 Ki characters. */
const CHUNK_WITH_PAYLOADS = 50;
const CHUNK = 1000;

type ItemStream = {
  query: Omit<RunsQuery, "limit">;
  /** Maximum number of items in the response; null for no limit. */
  limit: number | null;
  /** Returns the items of some runs, in the order of the runs; runs may be left out. */
  render: (runs: readonly PlacedRun[]) => Promise<JsonPart[][]>;
  /** Returns the members after the items. The next page begins behind `next`; null if there is none. */
  end: (next: RunPosition | null) => Record<string, unknown>;
};

/**
 * Returns a response `{"items": [...], ...}` whose runs are read and sent chunk by chunk. An error before
 * the first chunk is read gets its own status; a later error breaks the response off. If the request uses
 * up the runs that it may scan, its page ends early, and the cursor of the page continues from there.
 */
export async function streamItems(env: Env, stream: ItemStream): Promise<Response> {
  const { limit, render, end } = stream;
  const query = { turns: new Turns(), ...stream.query };
  const chunk = query.payloads.length === 0 ? CHUNK : CHUNK_WITH_PAYLOADS;
  const read = async (after: RunPosition | null, max: number): Promise<ItemChunk<RunPosition>> => {
    const { runs, next } = await findRuns(env, { ...query, after, limit: max });
    return { items: await render(runs), taken: runs.length, next };
  };
  const readOn = async (
    after: RunPosition,
    max: number,
  ): Promise<ItemChunk<RunPosition> | null> => {
    try {
      return await read(after, max);
    } catch (error) {
      // A list without a limit has no cursor: only a broken response can show that it is incomplete.
      if (limit === null || !(error instanceof TooManyTurns)) throw error;
      return null;
    }
  };
  const first = await read(query.after, nextLimit({ chunk, limit }, 0));
  const parts = itemsJson(first, { read: readOn, chunk, limit, end });
  return jsonStreamResponse(env.PAYLOADS, parts);
}
