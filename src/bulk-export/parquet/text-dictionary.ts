import { PageBuffer } from "./page-buffer.ts";
import { ByteWriter } from "hyparquet-writer";
import { writeRleBitPackedHybrid } from "hyparquet-writer/src/encoding.js";
import { NO_TEXT } from "../../tracing/model/columnar-runs.ts";
import type { ChunkWriter } from "./column-chunk.ts";
import { startOf, type TextSlice } from "./row-slices.ts";

/** With longer texts, or more of them, a dictionary would cost more than it saves. */
const MAX_TEXT_BYTES = 256;
const MAX_ENTRIES = 4096;
const SLOTS = 4 * MAX_ENTRIES;

/** The distinct texts of a column, numbered in the order of their addition. */
export class TextDictionary {
  readonly values = new PageBuffer();
  readonly #slots = new Int32Array(SLOTS).fill(-1);
  readonly #entries: Uint8Array[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Returns the text's number; -1 when it does not fit in. */
  add(source: Uint8Array, start: number, end: number): number {
    if (end - start > MAX_TEXT_BYTES) return -1;
    let slot = hash(source, start, end) & (SLOTS - 1);
    for (;;) {
      const number = this.#slots[slot] ?? -1;
      const entry = this.#entries[number];
      if (entry === undefined) break;
      if (isEqual(source, start, end, entry)) return number;
      slot = (slot + 1) & (SLOTS - 1);
    }
    const number = this.#entries.length;
    if (number === MAX_ENTRIES) return -1;
    this.#slots[slot] = number;
    this.#entries.push(source.slice(start, end));
    this.values.add(source, start, end);
    return number;
  }

  entry(number: number): Uint8Array | undefined {
    return this.#entries[number];
  }
}

/** Returns the FNV-1a hash, with its high bits mixed in. */
function hash(source: Uint8Array, start: number, end: number): number {
  let value = 0x811c9dc5;
  for (let at = start; at < end; at += 1) {
    value = Math.imul(value ^ (source[at] ?? 0), 0x01000193);
  }
  return (value ^ (value >>> 15)) >>> 0;
}

function isEqual(source: Uint8Array, start: number, end: number, entry: Uint8Array): boolean {
  if (end - start !== entry.length) return false;
  for (let index = 0; index < entry.length; index += 1) {
    if (source[start + index] !== entry[index]) return false;
  }
  return true;
}

/** The texts of a column as numbers of a dictionary's entries. */
type Numbered = {
  dictionary: TextDictionary;
  /** The numbers of the texts that are present. */
  numbers: Int32Array;
  definition: Uint8Array;
  missing: number;
};

/** Returns null when a dictionary would not help, because there are too many distinct texts. */
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

export async function writeDictionaryPages(
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
