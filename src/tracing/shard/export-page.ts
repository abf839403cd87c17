import { ColumnPacker } from "./column-packer.ts";
import type { PackedRuns, RunColumn } from "../model/packed-runs.ts";
import type { KnownTraces } from "../filter/filter.ts";
import { spanSql, piecesOf } from "./page-range.ts";
import { isBehind } from "./run-page.ts";
import { findTurnEnd, isFiltered } from "./scan-turn.ts";
import type { RunSelection } from "./selection.ts";
import type { ShardDatabase } from "./shard-database.ts";
import type { RunPosition } from "../model/run-page.ts";

export type ExportPageQuery = {
  /** Besides `id` and `start_time`, which every page has. */
  columns: readonly RunColumn[];
  /** The page begins behind it. */
  after: RunPosition | null;
  limit: number;
  /** The page ends early when its texts exceed this; it has one run at least. */
  maxBytes: number;
};

/** `next` is where to go on; null when all runs were read. */
export type ExportPage = { runs: PackedRuns; next: RunPosition | null };

/** Reads runs of the selection in order of their start and then their id. Throws a FilterError. */
export function readExportPage(
  { sql, segments }: ShardDatabase,
  selection: RunSelection,
  { columns, after, limit, maxBytes }: ExportPageQuery,
  known: KnownTraces | undefined,
): ExportPage {
  const place = { order: "asc", after } as const;
  const pieces = piecesOf(segments, selection, place);
  const turn = { effort: 1, perRun: 0 };
  const end = isFiltered(selection) ? findTurnEnd(sql, selection, { pieces, place, turn }) : null;
  const packers = Array.from(
    new Set<RunColumn>(["start_time", "id", ...columns]),
    (column) => new ColumnPacker(column),
  );
  const selected = packers.map((packer) => packer.selected).join(", ");
  let rows = 0;
  let bytes = 0;
  let last: RunPosition | null = null;
  for (const piece of pieces) {
    if (end !== null && isBehind(piece, end, "asc")) break;
    const { text, params } = spanSql(
      selection,
      piece,
      { place, end, limit: limit + 1 - rows },
      known,
    );
    const cursor = sql.exec(`SELECT ${selected} FROM ${text}`, ...params).raw();
    for (const row of cursor) {
      if (last !== null && (rows === limit || bytes > maxBytes)) {
        return { runs: pack(packers, rows), next: last };
      }
      for (let column = 0; column < packers.length; column += 1) {
        bytes += packers[column]?.take(row[column]) ?? 0;
      }
      last = { startTime: row[0] as number, id: row[1] as string };
      rows += 1;
    }
  }
  return { runs: pack(packers, rows), next: end };
}

function pack(packers: readonly ColumnPacker[], rows: number): PackedRuns {
  const runs: PackedRuns = { rows, texts: {}, numbers: {} };
  for (const packer of packers) packer.put(runs);
  return runs;
}
