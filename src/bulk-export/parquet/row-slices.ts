import type {
  NumberColumn,
  ColumnarNumbers,
  ColumnarRuns,
  ColumnarTexts,
  TextColumn,
} from "../../tracing/model/columnar-runs.ts";

/** Rows from `from` up to, but not including, `to`. */
export type RowSlice = { runs: ColumnarRuns; from: number; to: number };

/** The same rows of one text column. */
export type TextSlice = { texts: ColumnarTexts; from: number; to: number };

export function textsOf(runs: ColumnarRuns, column: TextColumn): ColumnarTexts {
  const texts = runs.texts[column];
  if (texts === undefined) throw new Error(`${column} was not read`);
  return texts;
}

export function numbersOf(runs: ColumnarRuns, column: NumberColumn): ColumnarNumbers {
  const numbers = runs.numbers[column];
  if (numbers === undefined) throw new Error(`${column} was not read`);
  return numbers;
}

/** Returns where the text of a row begins. */
export function startOf({ lengths }: ColumnarTexts, row: number): number {
  let start = 0;
  for (let before = 0; before < row; before += 1) {
    const length = lengths[before] ?? 0;
    if (length > 0) start += length;
  }
  return start;
}

export function rowsIn(slices: readonly RowSlice[]): number {
  return slices.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** Returns for each row the size of its values before encoding, in bytes, and the number of its payloads in R2. */
export function rowSizes({ rows, texts, numbers }: ColumnarRuns): {
  bytes: Float64Array;
  objects: Uint8Array;
} {
  const fixed = Object.keys(numbers).length * Float64Array.BYTES_PER_ELEMENT;
  const bytes = new Float64Array(rows).fill(fixed);
  const objects = new Uint8Array(rows);
  for (const { lengths, stored } of Object.values(texts)) {
    for (let row = 0; row < rows; row += 1) {
      const length = lengths[row] ?? 0;
      if (length > 0) bytes[row] = (bytes[row] ?? 0) + length;
    }
    for (const { row, size } of stored) {
      bytes[row] = (bytes[row] ?? 0) + size;
      objects[row] = (objects[row] ?? 0) + 1;
    }
  }
  return { bytes, objects };
}
