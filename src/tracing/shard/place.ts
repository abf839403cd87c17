import type { Sql } from "../../db/sql.ts";
import type { TimeSpan } from "../filter/filter.ts";
import type { RunOrder, RunPosition } from "../model/run-page.ts";
import type { RunSelection } from "./selection.ts";

/** Where reading begins, and in which order of the runs' starts it goes on. */
export type Place = { order: RunOrder; after: RunPosition | null };

/**
 * The selection without what lies before the place: SQLite begins at one bound of the start only, and
 * it may choose that of the selection, over and over, instead of where the page begins.
 */
export function fromPlace(selection: RunSelection, { order, after }: Place): RunSelection {
  if (after === null) return selection;
  const { startTime } = after;
  return order === "asc"
    ? { ...selection, from: Math.max(selection.from ?? startTime, startTime) }
    : { ...selection, to: Math.min(selection.to ?? startTime, startTime) };
}

export function beyond(position: RunPosition | null, compare: "<" | "<=" | ">" | ">="): Sql {
  if (position === null) return { text: "1", params: [] };
  return {
    text: `(r.start_time, r.id) ${compare} (?, ?)`,
    params: [position.startTime, position.id],
  };
}

/** The time within which the runs from a place to an end start. */
export function spanOf({ order, after }: Place, end: RunPosition | null): TimeSpan {
  const [from, to] = order === "asc" ? [after, end] : [end, after];
  return { from: from?.startTime ?? null, to: to?.startTime ?? null };
}
