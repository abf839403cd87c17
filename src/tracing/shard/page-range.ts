import { allOf, type Sql } from "../../db/sql.ts";
import type { RunOrder, RunPosition } from "../model/run-page.ts";
import { type KnownTraces, parsedScopes } from "../filter/filter.ts";
import { FAILED, fieldTerm, requiredIds, requiredTerms } from "../filter/run-terms.ts";
import { startsWithinSql } from "../filter/run-key.ts";
import {
  FIRST_TIME,
  LAST_TIME,
  type SegmentPiece,
  type RequiredTerms,
  type RunSegments,
  type StartRange,
} from "./segments/run-segments.ts";
import { type RunSelection, selectionSql } from "./selection.ts";

/** Where reading begins, and in which order of the runs' starts it continues. */
export type PageStart = { order: RunOrder; after: RunPosition | null };

export function beyondPosition(
  position: RunPosition | null,
  compare: "<" | "<=" | ">" | ">=",
): Sql {
  if (position === null) return { text: "1", params: [] };
  return {
    text: `(r.start_time, r.id) ${compare} (?, ?)`,
    params: [position.startTime, position.id],
  };
}

/** Returns the parts of segments that may have runs of the selection after the place, in its order. */
export function piecesOf(
  segments: RunSegments,
  selection: RunSelection,
  { order, after }: PageStart,
): SegmentPiece[] {
  const from = Math.max(
    selection.from ?? FIRST_TIME,
    order === "asc" ? (after?.startTime ?? FIRST_TIME) : FIRST_TIME,
  );
  const to = Math.min(
    selection.to ?? LAST_TIME,
    order === "desc" ? (after?.startTime ?? LAST_TIME) : LAST_TIME,
  );
  const pieces = segments.pieces(requiredOf(selection), { from, to });
  return order === "asc" ? pieces : pieces.toReversed();
}

/**
 * Returns what follows FROM in a query for the first of the selected runs `r` of a span, up to `end`, in their
 * order. Their keys are found first, so that sorting moves nothing else.
 */
export function spanSql(
  selection: RunSelection,
  span: StartRange,
  { place, end, limit }: { place: PageStart; end: RunPosition | null; limit: number },
  known: KnownTraces | undefined,
): Sql {
  const descending = place.order === "desc";
  const [from, to] = descending
    ? [Math.max(span.from, end?.startTime ?? span.from), span.to]
    : [span.from, Math.min(span.to, end?.startTime ?? span.to)];
  const bounds = { from: from === FIRST_TIME ? null : from, to: to === LAST_TIME ? null : to };
  const { text, params } = allOf([
    selectionSql({ ...selection, from: undefined, to: undefined }, "r", known, bounds),
    beyondPosition(place.after, descending ? "<" : ">"),
    beyondPosition(end, descending ? ">=" : "<="),
  ]);
  const within = startsWithinSql("r", from, to);
  // SQLite prepares a statement again for each value of a LIMIT that is a parameter and nothing else.
  const direction = descending ? "DESC" : "ASC";
  return {
    text: `(SELECT r.key AS key FROM runs r WHERE ${within.text} AND ${text}
        ORDER BY r.start_time ${direction}, r.id ${direction} LIMIT ? + 0) AS found
      CROSS JOIN runs r ON r.key = found.key`,
    params: [...within.params, ...params, limit],
  };
}

function requiredOf(selection: RunSelection): RequiredTerms {
  const { ids, traceId, parentRunId, threadId, referenceExampleIds, hasError } = selection;
  const filters = parsedScopes({ filter: selection.filter });
  const [named = null] = filters.map(requiredIds);
  const terms = filters.flatMap(requiredTerms);
  if (traceId !== undefined) terms.push([fieldTerm("trace_id", traceId)]);
  if (parentRunId !== undefined) terms.push([fieldTerm("parent_run_id", parentRunId)]);
  if (threadId !== undefined) terms.push([fieldTerm("thread_id", threadId)]);
  if (hasError === true) terms.push([FAILED]);
  if (referenceExampleIds !== undefined) {
    terms.push(referenceExampleIds.map((id) => fieldTerm("reference_example_id", id)));
  }
  return { ids: ids ?? named, terms };
}
