import { ByteWriter } from "hyparquet-writer";
import { writeRleBitPackedHybrid } from "hyparquet-writer/src/encoding.js";
import { NO_TEXT } from "../../tracing/model/packed-runs.ts";
import type { ChunkWriter } from "./column-chunk.ts";
import { startOf, type TextSlice } from "./row-slices.ts";
import { TextDictionary } from "./text-dictionary.ts";

/** Texts of a column by their numbers in a dictionary. */
type Numbered = {
  dictionary: TextDictionary;
  /** The numbers of the texts that are there. */
  numbers: Int32Array;
  definition: Uint8Array;
  missing: number;
};

/** Null when there are too many distinct texts for a dictionary to be of use. */
export function numberTexts(slices: readonly TextSlice[], rows: number): Numbered | null {
  const dictionary = new TextDictionary();
  const numbers = new Int32Array(rows);
  const definition = new Uint8Array(rows);
  let used = 0;
  let row = 0;
  let total = 0;
  for (const { texts, from, to } of slices) {
    const { bytes, lengths } = texts;
    let start = startOf(texts, from);
    for (let index = from; index < to; index += 1) {
      const length = lengths[index] ?? NO_TEXT;
      if (length >= 0) {
        const found = dictionary.add(bytes, start, start + length);
        if (found < 0) return null;
        numbers[used] = found;
        used += 1;
        definition[row] = 1;
        start += length;
        total += length + 4;
      }
      row += 1;
    }
  }
  if (dictionary.size > 0 && dictionary.values.used * 2 > total) return null;
  return { dictionary, numbers: numbers.subarray(0, used), definition, missing: rows - used };
}

export async function writeNumbers(
  writer: ChunkWriter,
  { dictionary, numbers, definition }: Numbered,
  required: boolean,
): Promise<void> {
  if (dictionary.size > 0) await writer.writeDictionary(dictionary.values.bytes(), dictionary.size);
  const rows = definition.length;
  await writer.writePage(
    dictionary.size > 0 ? numberPage(numbers, dictionary.size) : new Uint8Array(),
    {
      rows,
      count: rows,
      levels: { definition: required ? undefined : definition, repetition: undefined },
    },
  );
}

export function numberPage(numbers: Int32Array, size: number): Uint8Array {
  const width = Math.ceil(Math.log2(size));
  const page = new ByteWriter();
  page.appendUint8(width);
  writeRleBitPackedHybrid(page, numbers, width);
  return page.getBytes();
}
