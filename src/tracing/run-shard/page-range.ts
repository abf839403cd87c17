import type { Sql } from "../../db/sql.ts";
import { attributeQueries, readsTexts } from "../filter/filter.ts";
import type { RunSelection } from "../query/selection.ts";
import { rareAttribute } from "./rare-attribute.ts";
import type { RunOrder, RunPosition } from "./run-record.ts";

/** Of how many runs the texts are read before other requests have their turn: some 0.2 s. */
const TEXTS_AT_ONCE = 10_000;

export type PagePlan = {
  /** When given, only these rows are looked at. */
  rows: Sql | null;
  /** How many runs may be looked at; the page may end before it is full. */
  scan: number | null;
};

type Place = { order: RunOrder; after: RunPosition | null };

/** How to find the runs of a filter. Throws a FilterError. */
export function planPage(storage: SqlStorage, filter: string | undefined): PagePlan {
  if (filter === undefined) return { rows: null, scan: null };
  const rows = rareAttribute(storage, attributeQueries(filter));
  return { rows, scan: rows === null && readsTexts(filter) ? TEXTS_AT_ONCE : null };
}

/**
 * The selection without what lies before the page: SQLite begins at one bound of the start only, and it
 * may choose that of the selection, over and over, instead of where the page begins.
 */
export function fromPlace(selection: RunSelection, { order, after }: Place): RunSelection {
  if (after === null) return selection;
  const { startTime } = after;
  return order === "asc"
    ? { ...selection, from: Math.max(selection.from ?? startTime, startTime) }
    : { ...selection, to: Math.min(selection.to ?? startTime, startTime) };
}

/**
 * The part of a query that begins with FROM and ends with ORDER BY, for the runs `r` of a page with
 * their traces `t`. `scanEnd` is the last run that the query looks at, null when it looks at all.
 */
export function pageRange(
  storage: SqlStorage,
  condition: Sql,
  place: Place,
  { rows, scan }: PagePlan,
): { from: Sql; scanEnd: RunPosition | null } {
  const descending = place.order === "desc";
  const direction = descending ? "DESC" : "ASC";
  const position = beyond(place.after, descending ? "<" : ">");
  const scanEnd = scan === null ? null : findScanEnd(storage, place, scan);
  const end = beyond(scanEnd, descending ? ">=" : "<=");
  const from = {
    text: `FROM runs r JOIN traces t ON t.trace_id = r.trace_id
     WHERE ${rows === null ? "1" : `r.seq IN (${rows.text})`} AND ${condition.text}
       AND ${position.text} AND ${end.text}
     -- The plus keeps SQLite from going through the index in this order.
     ORDER BY ${rows === null ? "" : "+"}r.start_time ${direction}, r.id ${direction}`,
    params: [...(rows?.params ?? []), ...condition.params, ...position.params, ...end.params],
  };
  return { from, scanEnd };
}

function beyond(position: RunPosition | null, compare: string): Sql {
  if (position === null) return { text: "1", params: [] };
  return {
    text: `(r.start_time, r.id) ${compare} (?, ?)`,
    params: [position.startTime, position.id],
  };
}

/** The last run of the next `scan` ones; null when there are fewer. */
function findScanEnd(
  storage: SqlStorage,
  { order, after }: Place,
  scan: number,
): RunPosition | null {
  const direction = order === "desc" ? "DESC" : "ASC";
  const { text, params } = beyond(after, order === "desc" ? "<" : ">");
  const [row] = storage
    .exec<{ start_time: number; id: string }>(
      `SELECT r.start_time, r.id FROM runs r WHERE ${text}
       ORDER BY r.start_time ${direction}, r.id ${direction} LIMIT 1 OFFSET ?`,
      ...params,
      scan - 1,
    )
    .toArray();
  return row === undefined ? null : { startTime: row.start_time, id: row.id };
}
