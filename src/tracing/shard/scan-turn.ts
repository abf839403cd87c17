import { allOf, type Sql, sql } from "../../db/sql.ts";
import { type KnownTraces, parsedScopes } from "../filter/filter.ts";
import { type FilterWork, workOf } from "../filter/filter-work.ts";
import { requiredTexts } from "../filter/required-texts.ts";
import { LAST_START, startsBetween, startsWithinSql } from "../filter/run-key.ts";
import type { RunPosition } from "../model/run-page.ts";
import { beyondPosition, piecesOf, type PageStart } from "./page-range.ts";
import type { SegmentPiece, StartRange } from "./segments/run-segments.ts";
import { type TextTest, textTest } from "./segments/text-filter.ts";
import { type RunSelection, selectionSql } from "./selection.ts";
import type { ShardDatabase } from "./shard-database.ts";

/** The work of a turn, after which other requests have theirs: about a tenth of a second. */
const TURN_MICROS = 100_000;

/** The share of a turn's work that may be done, from 0 to 1, and the work per run besides that of the filters. */
export type ScanBudget = { effort: number; perRun: number };

/** The work of testing a segment's texts, in microseconds. */
const TEXTS_WORK = 40;

/** The pieces whose runs a turn examines, and the last of these runs; null if no runs are left after them. */
export type TurnPlan = { pieces: SegmentPiece[]; end: RunPosition | null };

/**
 * Collects pieces until the work of testing the filters on their runs fills a turn. Leaves out the pieces whose
 * texts show that no run in them matches.
 */
export function planTurn(
  { sql: storage, segments }: ShardDatabase,
  selection: RunSelection,
  { pieces, place, turn }: { pieces: readonly SegmentPiece[]; place: PageStart; turn: ScanBudget },
): TurnPlan {
  const work = workOf(parsedScopes(selection));
  const test = textTestOf(selection);
  let left = TURN_MICROS * turn.effort;
  const perRun = work.perRun + turn.perRun;
  const behind = beyondPosition(place.after, place.order === "desc" ? "<" : ">");
  const reached: SegmentPiece[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (test !== null) {
      if (left <= 0 && index > 0) return { pieces: reached, end: beforePiece(piece, place.order) };
      left -= TEXTS_WORK;
      if (!segments.mayHaveTexts(piece, test)) continue;
    }
    reached.push(piece);
    if (work.perByte === 0 && piece.size * perRun < left) {
      left -= piece.size * perRun;
      continue;
    }
    const within = startsWithinSql("r", piece.from, piece.to);
    const runs = sql(
      `runs r WHERE ${within.text} AND ${behind.text}`,
      ...within.params,
      ...behind.params,
    );
    // It is cheap to add up the work of a whole piece, but not to find where in it a turn ends.
    const micros = workIn(storage, runs, work, perRun);
    if (micros < left) {
      left -= micros;
      continue;
    }
    const end = endIn(storage, runs, { work, left, perRun, order: place.order });
    if (end !== null) return { pieces: reached, end };
    left -= micros;
  }
  return { pieces: reached, end: null };
}

function textTestOf({ filter }: RunSelection): TextTest | null {
  const [parsed] = parsedScopes({ filter });
  const required = parsed === undefined ? null : requiredTexts(parsed);
  return required === null ? null : textTest(required);
}

/** Returns a position before all runs of a piece: ids consist of letters and digits. */
function beforePiece({ from, to }: SegmentPiece, order: PageStart["order"]): RunPosition {
  return order === "asc" ? { startTime: from, id: "" } : { startTime: to, id: "~" };
}

/** Returns whether runs may be examined that do not match. */
export function isFiltered({ filter, traceFilter, treeFilter }: RunSelection): boolean {
  return filter !== undefined || traceFilter !== undefined || treeFilter !== undefined;
}

/** Returns the run at which the turn's remaining work is used up; at least one run is examined. */
function endIn(
  storage: SqlStorage,
  runs: Sql,
  given: { work: FilterWork; left: number; perRun: number; order: PageStart["order"] },
): RunPosition | null {
  const { work, left, perRun } = given;
  const count = Math.max(Math.floor(left / perRun), 1);
  const direction = given.order === "desc" ? "DESC" : "ASC";
  const ordered = `ORDER BY r.start_time ${direction}, r.id ${direction}`;
  const order = `start_time ${direction}, id ${direction}`;
  const query =
    work.perByte === 0
      ? sql(
          `SELECT r.start_time, r.id FROM ${runs.text} ${ordered} LIMIT 1 OFFSET ?`,
          ...runs.params,
          count - 1,
        )
      : sql(
          `WITH next AS (
             SELECT r.start_time, r.id, ${work.perByte} * (${bytesSql(work)}) AS micros
             FROM ${runs.text} ${ordered} LIMIT ? + 0
           ), summed AS (
             SELECT start_time, id, row_number() OVER next_runs AS place,
               sum(micros) OVER next_runs AS micros
             FROM next WINDOW next_runs AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
           )
           SELECT start_time, id FROM summed
           WHERE place = ? OR micros + place * ? >= ? ORDER BY place LIMIT 1`,
          ...runs.params,
          count,
          count,
          perRun,
          left,
        );
  const [row] = storage
    .exec<{ start_time: number; id: string }>(query.text, ...query.params)
    .toArray();
  return row === undefined ? null : { startTime: row.start_time, id: row.id };
}

function workIn(storage: SqlStorage, runs: Sql, work: FilterWork, perRun: number): number {
  const { n, bytes } = storage
    .exec<{ n: number; bytes: number }>(
      `SELECT count(*) AS n, total(${bytesSql(work)}) AS bytes FROM ${runs.text}`,
      ...runs.params,
    )
    .one();
  return n * perRun + bytes * work.perByte;
}

function bytesSql({ perByte, reads }: FilterWork): string {
  if (perByte === 0) return "0";
  const sizes = ["octet_length(r.name)", "ifnull(octet_length(r.error), 0)"];
  if (reads.leaves) {
    sizes.push(
      "ifnull(octet_length(r.input_leaves), 0)",
      "ifnull(octet_length(r.output_leaves), 0)",
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

/** What was read of a part of the runs; `next` is the position to continue from, null if there are no more. */
export type TurnRows<T> = { rows: T[]; next: RunPosition | null };

export type TurnQuery = {
  selection: RunSelection;
  after: RunPosition | null;
  known: KnownTraces | undefined;
  /** Microseconds that `read` takes for each run, besides testing the filters on it. */
  perRun: number;
};

/** The runs `r` to read: what follows FROM, and the condition on them. */
export type TurnRuns = { from: string; condition: Sql };

/** Returns what `read` makes of the selected runs that one turn reaches, in the order of their start. */
export function readTurn<T>(
  db: ShardDatabase,
  { selection, after, known, perRun }: TurnQuery,
  read: (runs: TurnRuns) => T[],
): TurnRows<T> {
  const place = { order: "asc", after } as const;
  const { pieces, end } = planTurn(db, selection, {
    pieces: piecesOf(db.segments, selection, place),
    place,
    turn: { effort: 1, perRun },
  });
  const [first] = pieces;
  if (first === undefined) return { rows: [], next: end };
  const bounds = { from: first.from, to: end?.startTime ?? pieces.at(-1)?.to ?? first.to };
  const condition = allOf([
    selectionSql({ ...selection, from: undefined, to: undefined }, "r", known, bounds),
    beyondPosition(after, ">"),
    beyondPosition(end, "<="),
  ]);
  return { rows: read({ from: runsIn(pieces), condition }), next: end };
}

/** Writes numbers into the SQL, because a statement takes few parameters. */
function runsIn(pieces: readonly StartRange[]): string {
  const spans: [number, number][] = [];
  for (const { from, to } of pieces) {
    const before = spans.at(-1);
    if (before !== undefined && before[1] === from - 1) before[1] = to;
    else spans.push([Math.max(from, 0), to]);
  }
  const [from, to] = ["(span.value ->> 0)", "(span.value ->> 1)"];
  return `json_each('${JSON.stringify(spans)}') AS span CROSS JOIN runs r
    ON ${startsBetween("r", from, `min(${to}, ${LAST_START})`)} AND r.start_time BETWEEN ${from} AND ${to}`;
}
