import type { Sql } from "../../db/sql.ts";
import { attributeQueries, type KnownTraces, type TimeSpan } from "../filter/filter.ts";
import { type RunSelection, selectionSql } from "./selection.ts";
import type { RunPosition } from "../model/run-page.ts";
import { beyond, fromPlace, type Place, spanOf } from "./place.ts";
import { findTurnEnd, isFoundByIndex } from "./scan-turn.ts";

/**
 * With so few runs it is faster to sort them than to look for them in the order of their start; with
 * more of them, the next ones in that order are not far.
 */
const MAX_RARE_RUNS = 1000;

type PagePlan = {
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

function spanOfRows(storage: SqlStorage, { text, params }: Sql): TimeSpan {
  return storage
    .exec<TimeSpan>(
      `SELECT min(start_time) AS "from", max(start_time) AS "to" FROM runs WHERE seq IN (${text})`,
      ...params,
    )
    .one();
}

/**
 * The part of a query that begins with FROM and ends with ORDER BY, for the selected runs `r` of a page
 * with their traces `t`.
 */
export function pageRange(
  selection: RunSelection,
  place: Place,
  { rows, scanEnd, span }: PagePlan,
  known: KnownTraces | undefined,
): Sql {
  const condition = selectionSql(fromPlace(selection, place), "r", known, span);
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

/**
 * The one of several queries for attribute ids that has the fewest runs, as a query for the rows of those
 * runs; null when each of them has many.
 */
function rareAttribute(storage: SqlStorage, queries: readonly Sql[]): Sql | null {
  let fewest = MAX_RARE_RUNS + 1;
  let found: Sql | null = null;
  for (const { text, params } of queries) {
    const rows = `SELECT seq FROM run_attributes WHERE attribute_id IN (${text})`;
    const { n } = storage
      .exec<{ n: number }>(`SELECT count(*) AS n FROM (${rows} LIMIT ${fewest})`, ...params)
      .one();
    if (n >= fewest) continue;
    fewest = n;
    found = { text: rows, params };
  }
  return found;
}
