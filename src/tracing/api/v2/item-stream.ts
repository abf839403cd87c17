import type { AppContext } from "../../../http/app-types.ts";
import { findRuns, type RunsQuery } from "../../query/find-runs.ts";
import type { PlacedRun } from "../../query/run-source.ts";
import type { RunPosition } from "../../model/run-page.ts";
import { jsonStreamResponse } from "../json-stream.ts";
import { type ItemChunk, itemsJson, nextLimit } from "./items-json.ts";
import type { JsonPart } from "../json-parts.ts";

/** Runs that are held at once: each may bring several payloads of up to 64 Ki characters. */
const CHUNK_WITH_PAYLOADS = 50;
const CHUNK = 1000;

export type ItemStream = {
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
 * first of them are read has a status of its own; after that the answer breaks off.
 */
export async function streamItems(c: AppContext, stream: ItemStream): Promise<Response> {
  const { query, limit, render, end } = stream;
  const chunk = query.payloads.length === 0 ? CHUNK : CHUNK_WITH_PAYLOADS;
  const read = async (after: RunPosition | null, max: number): Promise<ItemChunk<RunPosition>> => {
    const { runs, next } = await findRuns(c.env, { ...query, after, limit: max });
    return { items: await render(runs), taken: runs.length, next };
  };
  const first = await read(query.after, nextLimit({ chunk, limit }, 0));
  const parts = itemsJson(first, { read, chunk, limit, end });
  return jsonStreamResponse(c.env.PAYLOADS, parts);
}
