import { findRuns, type RunsQuery } from "../../query/find-runs.ts";
import type { PlacedRun } from "../../query/run-source.ts";
import { TooManyTurns, Turns } from "../../query/turns.ts";
import type { RunPosition } from "../../model/run-page.ts";
import { jsonStreamResponse } from "../json-stream.ts";
import { type ItemChunk, itemsJson, type JsonPart, nextLimit } from "../json-parts.ts";

/** Runs that are held at once: each may bring several payloads of up to 64 Ki characters. */
const CHUNK_WITH_PAYLOADS = 50;
const CHUNK = 1000;

type ItemStream = {
  query: Omit<RunsQuery, "limit">;
  /** Null: all there are. */
  limit: number | null;
  /** The items of some runs, in their order; a run may be left out. */
  render: (runs: readonly PlacedRun[]) => Promise<JsonPart[][]>;
  /** What follows the items, when these are all, or when the next page begins behind `next`. */
  end: (next: RunPosition | null) => Record<string, unknown>;
};

/**
 * Answers with `{"items": [...], ...}`, read and sent some runs at a time. What fails before the
 * first of them are read has a status of its own; after that the answer breaks off. When the runs that
 * one request may look at are used up by then, a page ends early, and its cursor leads on from there.
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
      // A list of all there are has no cursor: nothing but a broken answer can say that it is not all.
      if (limit === null || !(error instanceof TooManyTurns)) throw error;
      return null;
    }
  };
  const first = await read(query.after, nextLimit({ chunk, limit }, 0));
  const parts = itemsJson(first, { read: readOn, chunk, limit, end });
  return jsonStreamResponse(env.PAYLOADS, parts);
}
