import { NO_TEXT } from "../../tracing/model/packed-runs.ts";
import { type ChunkTarget, ChunkWriter, type WrittenChunk } from "./column-chunk.ts";
import { type RowSlice, rowsIn, textsOf } from "./row-slices.ts";

/** Writes for each run whether it has no parent. */
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
