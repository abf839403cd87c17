import {
  isTextColumn,
  NO_TEXT,
  NUMBER_COLUMNS,
  type NumberColumn,
  type ColumnarRuns,
  type ColumnarTexts,
  type RunColumn,
  STORED_TEXT,
  TEXT_COLUMNS,
  type TextColumn,
} from "../../src/tracing/model/columnar-runs.ts";

export const RUN_COLUMNS: readonly RunColumn[] = [...TEXT_COLUMNS, ...NUMBER_COLUMNS];

/** The key of a payload's object in R2, and its size there. */
type StoredPayload = { object: string; size: number };

type PayloadColumn = "inputs" | "outputs" | "error" | "extra" | "events";

export type RunValues = Record<Exclude<TextColumn, PayloadColumn>, string | null> &
  Record<PayloadColumn, string | null | StoredPayload> &
  Record<NumberColumn, number | null>;

/** Packs runs as a shard sends them. */
export function packRuns(runs: readonly RunValues[]): ColumnarRuns {
  const packed: ColumnarRuns = { rows: runs.length, texts: {}, numbers: {} };
  for (const column of TEXT_COLUMNS)
    packed.texts[column] = packTexts(runs.map((run) => run[column]));
  for (const column of NUMBER_COLUMNS) {
    packed.numbers[column] = Float64Array.from(runs, (run) => run[column] ?? NaN);
  }
  return packed;
}

function packTexts(values: readonly (string | null | StoredPayload)[]): ColumnarTexts {
  const stored: ColumnarTexts["stored"] = [];
  const encoded = values.map((value, row) => {
    if (value === null) return NO_TEXT;
    if (typeof value === "string") return new TextEncoder().encode(value);
    stored.push({ row, ...value });
    return STORED_TEXT;
  });
  const texts = encoded.filter((text) => typeof text !== "number");
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + text.length, 0));
  let at = 0;
  for (const text of texts) {
    bytes.set(text, at);
    at += text.length;
  }
  const lengths = Int32Array.from(encoded, (text) =>
    typeof text === "number" ? text : text.length,
  );
  return { bytes, lengths, stored };
}

/** Unpacks the rows from `from` up to but excluding `to`, with the columns that the shard sent. */
export function unpackRuns(packed: ColumnarRuns, from: number, to: number): Partial<RunValues>[] {
  const columns = [...Object.keys(packed.texts), ...Object.keys(packed.numbers)] as RunColumn[];
  const values = new Map(columns.map((column) => [column, valuesOf(packed, column)]));
  return Array.from({ length: to - from }, (_, index) =>
    Object.fromEntries([...values].map(([column, of]) => [column, of[from + index] ?? null])),
  );
}

function valuesOf({ rows, texts, numbers }: ColumnarRuns, column: RunColumn) {
  if (!isTextColumn(column)) {
    return Array.from(numbers[column] ?? [], (value) => (Number.isNaN(value) ? null : value));
  }
  const packed = texts[column];
  if (packed === undefined) throw new Error(`there is no ${column}`);
  let start = 0;
  return Array.from({ length: rows }, (_, row) => {
    const length = packed.lengths[row] ?? NO_TEXT;
    if (length === STORED_TEXT) {
      const found = packed.stored.find((stored) => stored.row === row);
      return found === undefined ? null : { object: found.object, size: found.size };
    }
    if (length === NO_TEXT) return null;
    start += length;
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      packed.bytes.subarray(start - length, start),
    );
  });
}
