import type { PackedRuns } from "../../tracing/model/packed-runs.ts";

/** Of each row: the bytes of its values before they are encoded, and the payloads that are in R2. */
export function rowSizes({ rows, texts, numbers }: PackedRuns): {
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
