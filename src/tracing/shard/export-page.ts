import { ColumnPacker } from "./column-packer.ts";
import type { PackedRuns, RunColumn } from "../model/packed-runs.ts";
import type { KnownTraces } from "../filter/filter.ts";
import { pageRange, planPage } from "./page-range.ts";
import type { RunSelection } from "./selection.ts";
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
  storage: SqlStorage,
  selection: RunSelection,
  { columns, after, limit, maxBytes }: ExportPageQuery,
  known: KnownTraces | undefined,
): ExportPage {
  const place = { order: "asc", after, effort: 1 } as const;
  const plan = planPage(storage, selection, place);
  const from = pageRange(selection, place, plan, known);
  const packers = Array.from(
    new Set<RunColumn>(["start_time", "id", ...columns]),
    (column) => new ColumnPacker(column),
  );
  // The runs of the page are found first, so that sorting moves no more than their keys. CROSS keeps
  // SQLite from going through anything but these, in their order.
  const cursor = storage
    .exec(
      `SELECT ${packers.map(({ selected }) => selected).join(", ")}
       FROM (SELECT r.seq AS seq, t.tier AS tier ${from.text} LIMIT ?) k
       CROSS JOIN runs r ON r.seq = k.seq ${packers.map(({ join }) => join).join(" ")}`,
      ...from.params,
      limit + 1,
    )
    .raw();
  let rows = 0;
  let bytes = 0;
  let last: RunPosition | null = null;
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
  return { runs: pack(packers, rows), next: plan.scanEnd };
}

function pack(packers: readonly ColumnPacker[], rows: number): PackedRuns {
  const runs: PackedRuns = { rows, texts: {}, numbers: {} };
  for (const packer of packers) packer.put(runs);
  return runs;
}
