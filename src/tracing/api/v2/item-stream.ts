import { findRuns, type RunsQuery } from "../../query/find-runs.ts";
import type { PlacedRun } from "../../query/run-source.ts";
import { TooManyTurns, Turns } from "../../query/turns.ts";
import type { RunPosition } from "../../model/run-page.ts";
import { type JsonPart, jsonStreamResponse } from "../json-stream.ts";

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

/** Some of the items of an answer, and where more begin. */
type ItemChunk<Position> = { items: JsonPart[][]; taken: number; next: Position | null };

export type ItemSource<Position> = {
  /**
   * Reads so many; `taken` may be more than there are items, when some were left out. Null when no more
   * may be read for this answer: it ends, and the next page begins there.
   */
  read: (after: Position, limit: number) => Promise<ItemChunk<Position> | null>;
  /** How many are held at once. */
  chunk: number;
  /** How many in all; null: all there are. */
  limit: number | null;
  /** What follows the items, when these are all, or when the next page begins behind `next`. */
  end: (next: Position | null) => Record<string, unknown>;
};

/** How many to read next, when so many are taken already. */
export function nextLimit(
  { chunk, limit }: { chunk: number; limit: number | null },
  taken: number,
): number {
  return Math.min(chunk, (limit ?? Infinity) - taken);
}

/** `{"items": [...], ...}`, of which only a chunk is in memory at a time. */
export async function* itemsJson<Position>(
  first: ItemChunk<Position>,
  source: ItemSource<Position>,
): AsyncGenerator<JsonPart> {
  let chunk = first;
  let { taken } = first;
  let separator = "";
  yield '{"items":[';
  for (;;) {
    for (const item of chunk.items) {
      yield separator;
      yield* item;
      separator = ",";
    }
    const limit = nextLimit(source, taken);
    if (chunk.next === null || limit === 0) break;
    const following = await source.read(chunk.next, limit);
    if (following === null) break;
    chunk = following;
    taken += chunk.taken;
  }
  const end = JSON.stringify(source.end(chunk.next));
  yield `]${end === "{}" ? end.slice(1) : `,${end.slice(1)}`}`;
}
