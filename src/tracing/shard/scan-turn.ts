import { allOf, type Sql } from "../../db/sql.ts";
import { type KnownTraces, parsedScopes } from "../filter/filter.ts";
import { type FilterWork, indexedPart, workOf } from "../filter/filter-work.ts";
import { runCondition } from "../filter/run-condition.ts";
import { type RunSelection, selectionSql } from "./selection.ts";
import { beyond, fromPlace, type Place, spanOf } from "./place.ts";
import type { RunPosition } from "../model/run-page.ts";
import { PAYLOAD_NUMBER, PAYLOADS_PER_RUN } from "../model/run-row.ts";

/** The work of a turn, after which others have theirs: about a tenth of a second. */
const TURN_MICROS = 100_000;

/** How much of a turn's work is done at most, from 0 to 1, and what comes to that of the filters. */
export type Turn = { effort: number; perRun: number };

/**
 * The last run that a turn looks at; null when it looks at all that are left. It goes along the runs
 * that an index finds for the selection, as far as the work of trying the filters on them fills a turn.
 */
export function findTurnEnd(
  storage: SqlStorage,
  selection: RunSelection,
  place: Place,
  turn: Turn,
): RunPosition | null {
  const work = workOf(parsedScopes(selection));
  const direction = place.order === "desc" ? "DESC" : "ASC";
  const micros = TURN_MICROS * turn.effort;
  const runs = Math.max(Math.floor(micros / (work.perRun + turn.perRun)), 1);
  const where = allOf([
    indexedSelection(fromPlace(selection, place)),
    beyond(place.after, place.order === "desc" ? "<" : ">"),
  ]);
  const order = `start_time ${direction}, id ${direction}`;
  const [row] = storage
    .exec<{ start_time: number; id: string }>(
      `WITH next AS (
         SELECT r.start_time, r.id, ${work.perByte} * (${bytesSql(work)}) AS micros FROM runs r
         WHERE ${where.text} ORDER BY r.start_time ${direction}, r.id ${direction} LIMIT ?
       ), summed AS (
         SELECT start_time, id, row_number() OVER next_runs AS place,
           sum(micros) OVER next_runs AS micros
         FROM next WINDOW next_runs AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
       )
       SELECT start_time, id FROM summed
       WHERE place = ? OR micros + place * ? >= ? ORDER BY place LIMIT 1`,
      ...where.params,
      runs,
      runs,
      work.perRun + turn.perRun,
      micros,
    )
    .toArray();
  return row === undefined ? null : { startTime: row.start_time, id: row.id };
}

/** Whether all runs that are looked at are those that are found: no work is in vain. */
export function isFoundByIndex(selection: RunSelection): boolean {
  const { filter, traceFilter, treeFilter } = selection;
  if (traceFilter !== undefined || treeFilter !== undefined) return false;
  if (filter === undefined) return true;
  return parsedScopes({ filter }).every((tree) => indexedPart(tree).isAll);
}

/** That part of the selection which an index finds. */
function indexedSelection(selection: RunSelection): Sql {
  const { ids, traceId, parentRunId, threadId, isRoot, hasError, from, to, filter } = selection;
  const bare = { ids, traceId, parentRunId, threadId, from, to };
  const indexed = parsedScopes({ filter }).flatMap((tree) => indexedPart(tree).conditions);
  return allOf([
    selectionSql(
      {
        ...bare,
        isRoot: isRoot === true ? true : undefined,
        hasError: hasError === true ? true : undefined,
      },
      "r",
    ),
    ...indexed.map((condition) => runCondition(condition, "r")),
  ]);
}

function bytesSql({ perByte, reads }: FilterWork): string {
  if (perByte === 0) return "0";
  const sizes = ["octet_length(r.name)", "ifnull(octet_length(r.error), 0)"];
  if (reads.leaves) {
    const keys = [PAYLOAD_NUMBER.inputLeaves, PAYLOAD_NUMBER.outputLeaves].map(
      (number) => `r.seq * ${PAYLOADS_PER_RUN} + ${number}`,
    );
    sizes.push(
      `ifnull((SELECT sum(octet_length(body)) FROM payloads WHERE key IN (${keys.join(", ")})), 0)`,
    );
  }
  if (reads.feedback) {
    sizes.push(
      `ifnull((SELECT sum(ifnull(octet_length(comment), 0) + ifnull(octet_length(value), 0))
         FROM feedback WHERE run_id = r.id), 0)`,
    );
  }
  return sizes.join(" + ");
}

/** What was read of a part of the runs; `next` is where to go on, null when there are no more. */
export type TurnRows<T> = { rows: T[]; next: RunPosition | null };

export type TurnQuery = {
  selection: RunSelection;
  after: RunPosition | null;
  known: KnownTraces | undefined;
  /** Microseconds that `read` takes for each run, besides trying the filters on it. */
  perRun: number;
};

/** What `read` makes of the selected runs that one turn comes to, in the order of their start. */
export function readTurn<T>(
  storage: SqlStorage,
  { selection, after, known, perRun }: TurnQuery,
  read: (condition: Sql) => T[],
): TurnRows<T> {
  const place = { order: "asc", after } as const;
  const next = findTurnEnd(storage, selection, place, { effort: 1, perRun });
  const bounded = { ...fromPlace(selection, place) };
  // Where there is no filter, SQLite finds the bound of the start in its index.
  if (next !== null) bounded.to = Math.min(bounded.to ?? next.startTime, next.startTime);
  const condition = selectionSql(bounded, "r", known, spanOf(place, next));
  const rows = read(allOf([condition, beyond(after, ">"), beyond(next, "<=")]));
  return { rows, next };
}
