import { NO_TEXT, type NumberColumn } from "../../tracing/model/columnar-runs.ts";
import { type ChunkTarget, ChunkWriter, type WrittenChunk } from "./column-chunk.ts";
import { numbersOf, type RowSlice, rowsIn, textsOf } from "./row-slices.ts";

/** The stored form of numbers: integers, or quotients by `divisor`. */
export type NumberFormat = { type: "INT64" } | { type: "DOUBLE"; divisor: number };

const HALF = 2 ** 32;

/** Writes a column of numbers. NaN stands for a missing value. */
export async function writeNumbers(
  target: ChunkTarget,
  slices: readonly RowSlice[],
  column: NumberColumn,
  { format, required }: { format: NumberFormat; required: boolean },
): Promise<WrittenChunk> {
  const rows = rowsIn(slices);
  const definition = new Uint8Array(rows);
  const numbers = new Float64Array(rows);
  let used = 0;
  let row = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const { runs, from, to } of slices) {
    const source = numbersOf(runs, column);
    for (let index = from; index < to; index += 1) {
      const value = source[index] ?? NaN;
      if (!Number.isNaN(value)) {
        numbers[used] = value;
        definition[row] = 1;
        used += 1;
        if (value < min) min = value;
        if (value > max) max = value;
      }
      row += 1;
    }
  }
  if (required && used < rows) throw new Error("a run lacks a required value");
  const writer = new ChunkWriter(target);
  const values = numbers.subarray(0, used);
  await writer.writePage(format.type === "INT64" ? integers(values) : quotients(values, format), {
    rows,
    count: rows,
    levels: { definition: required ? undefined : definition, repetition: undefined },
  });
  const bound = (value: number): bigint | number =>
    format.type === "INT64" ? BigInt(value) : value / format.divisor;
  const bounds = used === 0 ? {} : { min_value: bound(min), max_value: bound(max) };
  return {
    chunk: writer.end({ ...bounds, null_count: BigInt(rows - used) }),
    bloomFilter: undefined,
  };
}

/** Writes a column that tells for each run whether it has no parent. */
export async function writeIsRoot(
  target: ChunkTarget,
  slices: readonly RowSlice[],
): Promise<WrittenChunk> {
  const rows = rowsIn(slices);
  const bits = new Uint8Array(Math.ceil(rows / 8));
  let row = 0;
  for (const { runs, from, to } of slices) {
    const { lengths } = textsOf(runs, "parent_run_id");
    for (let index = from; index < to; index += 1) {
      if (lengths[index] === NO_TEXT) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
      row += 1;
    }
  }
  const writer = new ChunkWriter(target);
  const levels = { definition: undefined, repetition: undefined };
  await writer.writePage(bits, { rows, count: rows, levels });
  return { chunk: writer.end(undefined), bloomFilter: undefined };
}

/** Encodes values, which must be safe integers. */
function integers(values: Float64Array): Uint8Array {
  const page = new DataView(new ArrayBuffer(values.length * 8));
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? 0;
    const high = Math.floor(value / HALF);
    page.setUint32(index * 8, value - high * HALF, true);
    page.setInt32(index * 8 + 4, high, true);
  }
  return new Uint8Array(page.buffer);
}

function quotients(values: Float64Array, { divisor }: { divisor: number }): Uint8Array {
  const page = new DataView(new ArrayBuffer(values.length * 8));
  for (let index = 0; index < values.length; index += 1) {
    page.setFloat64(index * 8, (values[index] ?? 0) / divisor, true);
  }
  return new Uint8Array(page.buffer);
}
