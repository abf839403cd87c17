import type { Sql } from "../../db/sql.ts";
import { attributeQueries, type TimeSpan } from "../filter/filter.ts";
import type { RunSelection } from "./selection.ts";
import { rareAttribute } from "./rare-attribute.ts";
import type { RunPosition } from "../model/run-record.ts";
import { beyond, findTurnEnd, isFoundByIndex, type Place } from "./scan-turn.ts";

export type PagePlan = {
  /** When given, only these rows are looked at. */
  rows: Sql | null;
  /** The last run that is looked at, where the page may end before it is full; null: as many as it takes. */
  scanEnd: RunPosition | null;
  /** Within which all runs that are looked at start; undefined: anywhere. */
  span: TimeSpan | undefined;
};

/** How to find the runs of a page. Throws a FilterError. */
export function planPage(
  storage: SqlStorage,
  selection: RunSelection,
  place: Place & { effort: number },
): PagePlan {
  const { filter } = selection;
  if (isFoundByIndex(selection)) return { rows: null, scanEnd: null, span: undefined };
  const rows = filter === undefined ? null : rareAttribute(storage, attributeQueries(filter));
  if (rows !== null) return { rows, scanEnd: null, span: spanOfRows(storage, rows) };
  const turn = { effort: place.effort, perRun: 0 };
  const scanEnd = findTurnEnd(storage, selection, place, turn);
  return { rows, scanEnd, span: spanOf(place, scanEnd) };
}

/** Within which the runs from a place to an end start. */
export function spanOf({ order, after }: Place, end: RunPosition | null): TimeSpan {
  const [from, to] = order === "asc" ? [after, end] : [end, after];
  return { from: from?.startTime ?? null, to: to?.startTime ?? null };
}

function spanOfRows(storage: SqlStorage, { text, params }: Sql): TimeSpan {
  return storage
    .exec<TimeSpan>(
      `SELECT min(start_time) AS "from", max(start_time) AS "to" FROM runs WHERE seq IN (${text})`,
      ...params,
    )
    .one();
}

/**
 * The part of a query that begins with FROM and ends with ORDER BY, for the runs `r` of a page with
 * their traces `t`.
 */
export function pageRange(condition: Sql, place: Place, { rows, scanEnd }: PagePlan): Sql {
  const descending = place.order === "desc";
  const direction = descending ? "DESC" : "ASC";
  const position = beyond(place.after, descending ? "<" : ">");
  const end = beyond(scanEnd, descending ? ">=" : "<=");
  return {
    text: `FROM runs r JOIN traces t ON t.trace_id = r.trace_id
     WHERE ${rows === null ? "1" : `r.seq IN (${rows.text})`} AND ${condition.text}
       AND ${position.text} AND ${end.text}
     -- The plus keeps SQLite from going through the index in this order.
     ORDER BY ${rows === null ? "" : "+"}r.start_time ${direction}, r.id ${direction}`,
    params: [...(rows?.params ?? []), ...condition.params, ...position.params, ...end.params],
  };
}
