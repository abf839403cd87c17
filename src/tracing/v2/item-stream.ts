import type { AppContext } from "../../http/app-types.ts";
import { findRuns, type RunsFound, type RunsQuery } from "../query/find-runs.ts";
import type { PlacedRun } from "../query/run-source.ts";
import { jsonStreamResponse } from "../query/runs-query-routes.ts";
import type { RunPosition } from "../run-shard/run-page.ts";
import { type JsonPart, streamJson } from "../runs/json-stream.ts";

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
  const first = await findRuns(c.env, { ...stream.query, limit: nextLimit(stream, 0) });
  const items = await stream.render(first.runs);
  return jsonStreamResponse(streamJson(c.env.PAYLOADS, itemsJson(c.env, stream, first, items)));
}

async function* itemsJson(
  env: Env,
  stream: ItemStream,
  first: RunsFound,
  firstItems: JsonPart[][],
): AsyncGenerator<JsonPart> {
  let found = first;
  let items = firstItems;
  let taken = found.runs.length;
  let separator = "";
  yield '{"items":[';
  for (;;) {
    for (const item of items) {
      yield separator;
      yield* item;
      separator = ",";
    }
    const limit = nextLimit(stream, taken);
    if (found.next === null || limit === 0) break;
    found = await findRuns(env, { ...stream.query, after: found.next, limit });
    items = await stream.render(found.runs);
    taken += found.runs.length;
  }
  const end = JSON.stringify(stream.end(found.next));
  yield `]${end === "{}" ? end.slice(1) : `,${end.slice(1)}`}`;
}

function nextLimit({ query, limit }: ItemStream, taken: number): number {
  const chunk = query.payloads.length === 0 ? CHUNK : CHUNK_WITH_PAYLOADS;
  return Math.min(chunk, (limit ?? Infinity) - taken);
}
