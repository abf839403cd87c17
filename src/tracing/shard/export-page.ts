import {
  isTextColumn,
  NO_TEXT,
  type ColumnarRuns,
  type ColumnarTexts,
  type RunColumn,
  STORED_TEXT,
} from "../model/columnar-runs.ts";
import type { KnownTraces } from "../filter/filter.ts";
import { spanSql, piecesOf } from "./page-range.ts";
import { isFiltered, planTurn } from "./scan-turn.ts";
import type { RunSelection } from "./selection.ts";
import type { ShardDatabase } from "./shard-database.ts";
import type { RunPosition } from "../model/run-page.ts";
import { fromStored, payloadSql } from "./stored-payload.ts";

export type ExportPageQuery = {
  /** The columns besides `id` and `start_time`, which every page has. */
  columns: readonly RunColumn[];
  /** The page begins after this position. */
  after: RunPosition | null;
  limit: number;
  /** The page ends early once its texts exceed this; it has at least one run. */
  maxBytes: number;
};

/** `next` is the position to continue from; null if all runs were read. */
export type ExportPage = { runs: ColumnarRuns; next: RunPosition | null };

/** Reads the selected runs, ordered by start and then by id. Throws a FilterError. */
export function readExportPage(
  db: ShardDatabase,
  selection: RunSelection,
  { columns, after, limit, maxBytes }: ExportPageQuery,
  known: KnownTraces | undefined,
): ExportPage {
  const place = { order: "asc", after } as const;
  const all = piecesOf(db.segments, selection, place);
  const { pieces, end } = isFiltered(selection)
    ? planTurn(db, selection, { pieces: all, place, turn: { effort: 1, perRun: 0 } })
    : { pieces: all, end: null };
  const packers = Array.from(
    new Set<RunColumn>(["start_time", "id", ...columns]),
    (column) => new ColumnPacker(column),
  );
  const selected = packers.map((packer) => packer.selected).join(", ");
  let rows = 0;
  let bytes = 0;
  let last: RunPosition | null = null;
  for (const piece of pieces) {
    const { text, params } = spanSql(
      selection,
      piece,
      { place, end, limit: limit + 1 - rows },
      known,
    );
    const cursor = db.sql.exec(`SELECT ${selected} FROM ${text}`, ...params).raw();
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

function pack(packers: readonly ColumnPacker[], rows: number): ColumnarRuns {
  const runs: ColumnarRuns = { rows, texts: {}, numbers: {} };
  for (const packer of packers) packer.put(runs);
  return runs;
}

const TRACE_TIER = "(SELECT tier FROM traces WHERE trace_id = r.trace_id)";

const PAYLOAD_COLUMNS = ["inputs", "outputs", "error", "extra", "events"] as const;

/** The values of columns that the run was never given; all other columns are null then. */
const DEFAULTS: Partial<Record<RunColumn, string>> = {
  inputs: "{}",
  extra: "{}",
  events: "[]",
  tags: "[]",
};

/** Reads one column of `runs r`, row by row, and packs the values. */
class ColumnPacker {
  readonly #column: RunColumn;
  /** The texts; for a column of numbers, the numbers are in `#numbers`, otherwise the lengths of the texts. */
  readonly #texts: string[] = [];
  readonly #numbers: number[] = [];
  readonly #stored: ColumnarTexts["stored"] = [];
  readonly #isText: boolean;
  readonly #isJsonString: boolean;
  readonly #default: string | undefined;
  /** The SQL expression of the value in a row. */
  readonly selected: string;

  constructor(column: RunColumn) {
    this.#column = column;
    this.#isText = isTextColumn(column);
    this.#default = DEFAULTS[column];
    const payload = PAYLOAD_COLUMNS.find((name) => name === column);
    this.#isJsonString = column === "error";
    if (payload !== undefined) this.selected = payloadSql("r", payload);
    else if (column === "trace_tier") this.selected = TRACE_TIER;
    else this.selected = `r.${column}`;
  }

  /** Takes the row's value. Returns the length of its text before it is packed. */
  take(value: SqlStorageValue | undefined): number {
    if (!this.#isText) {
      this.#numbers.push(typeof value === "number" ? value : NaN);
      return Float64Array.BYTES_PER_ELEMENT;
    }
    if (typeof value === "string") {
      const text = this.#isJsonString ? decodedString(value) : value;
      this.#texts.push(text);
      this.#numbers.push(text.length);
      return text.length;
    }
    const payload = fromStored(value);
    if (payload !== null && "object" in payload) {
      const { object, bytes: size } = payload;
      this.#stored.push({ row: this.#numbers.length, object, size });
      this.#numbers.push(STORED_TEXT);
      this.#texts.push("");
      return object.length;
    }
    this.#texts.push(this.#default ?? "");
    this.#numbers.push(this.#default?.length ?? NO_TEXT);
    return 0;
  }

  put(runs: ColumnarRuns): void {
    if (isTextColumn(this.#column)) runs.texts[this.#column] = this.#packedTexts();
    else runs.numbers[this.#column] = Float64Array.from(this.#numbers);
  }

  #packedTexts(): ColumnarTexts {
    const joined = this.#texts.join("");
    const bytes = new TextEncoder().encode(joined);
    const lengths = Int32Array.from(this.#numbers);
    // Not all of it is ASCII, so the lengths in UTF-8 differ.
    if (bytes.length !== joined.length) {
      for (const [row, text] of this.#texts.entries()) {
        if (text !== "") lengths[row] = Buffer.byteLength(text);
      }
    }
    return { bytes, lengths, stored: this.#stored };
  }
}

/** Returns the text of a JSON string. Half a surrogate pair would form a whole one with the next text's. */
function decodedString(json: string): string {
  return String(JSON.parse(json)).toWellFormed();
}
