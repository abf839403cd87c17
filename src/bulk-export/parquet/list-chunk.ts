import type { ColumnarTexts } from "../../tracing/model/columnar-runs.ts";
import { startOf, type TextSlice } from "./row-slices.ts";
import { type ChunkTarget, ChunkWriter, type WrittenChunk } from "./column-chunk.ts";
import type { PageBuffer } from "./page-buffer.ts";
import { TextDictionary } from "./text-dictionary.ts";
import { ID_CHARS, SEGMENT_CHARS, TIME_CHARS } from "../../tracing/model/dotted-order.ts";

/** Length of a segment of a dotted order with the dot after it. */
const STEP = SEGMENT_CHARS + 1;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/** Returns the number of ancestors of a run, from the length of its dotted order. */
function ancestorCount(length: number): number {
  return Math.max(0, (length - SEGMENT_CHARS) / STEP);
}

/** Returns where the id of an ancestor begins in a dotted order; `index` counts from the root. */
function ancestorStart(index: number): number {
  return index * STEP + TIME_CHARS;
}

const ANCESTOR_CHARS = ID_CHARS;

/** Returns the ids from the root to the direct parent as JSON lists. */
export function ancestorLists({ texts, from, to }: TextSlice): TextSlice {
  const { bytes, lengths } = texts;
  let size = 0;
  for (let row = from; row < to; row += 1) {
    size += 2 + ancestorCount(lengths[row] ?? 0) * (ID_CHARS + 3);
  }
  const lists: ColumnarTexts = {
    bytes: new Uint8Array(size),
    lengths: new Int32Array(to - from),
    stored: [],
  };
  let start = startOf(texts, from);
  let at = 0;
  for (let row = from; row < to; row += 1) {
    const length = lengths[row] ?? 0;
    const listStart = at;
    const count = ancestorCount(length);
    lists.bytes[at] = OPEN;
    at += 1;
    for (let index = 0; index < count; index += 1) {
      if (index > 0) {
        lists.bytes[at] = COMMA;
        at += 1;
      }
      lists.bytes[at] = QUOTE;
      const id = start + ancestorStart(index);
      for (let char = 0; char < ID_CHARS; char += 1) {
        lists.bytes[at + 1 + char] = bytes[id + char] ?? 0;
      }
      lists.bytes[at + 1 + ID_CHARS] = QUOTE;
      at += ID_CHARS + 2;
    }
    lists.bytes[at] = CLOSE;
    at += 1;
    lists.lengths[row - from] = at - listStart;
    start += length;
  }
  return { texts: lists, from: 0, to: to - from };
}

/** Adds the texts of one row's list to the values. Returns their number. */
type ListReader = (values: PageBuffer, bytes: Uint8Array, start: number, end: number) => number;

/** Writes a column of lists. Every row has a list. */
export async function writeLists(
  target: ChunkTarget,
  slices: readonly TextSlice[],
  read: ListReader,
): Promise<WrittenChunk> {
  const values = target.page;
  const repetition: number[] = [];
  const definition: number[] = [];
  let rows = 0;
  for (const { texts, from, to } of slices) {
    const { bytes, lengths } = texts;
    let start = startOf(texts, from);
    for (let row = from; row < to; row += 1) {
      const end = start + Math.max(lengths[row] ?? 0, 0);
      const count = read(values, bytes, start, end);
      repetition.push(0);
      definition.push(count === 0 ? 0 : 1);
      for (let more = 1; more < count; more += 1) {
        repetition.push(1);
        definition.push(1);
      }
      start = end;
      rows += 1;
    }
  }
  const writer = new ChunkWriter(target);
  await writer.writePage(values.bytes(), {
    rows,
    count: repetition.length,
    levels: { repetition: Uint8Array.from(repetition), definition: Uint8Array.from(definition) },
  });
  values.clear();
  return { chunk: writer.end(undefined), bloomFilter: undefined };
}

/** Reads the ids of a run's ancestors from its dotted order. */
export const readAncestors: ListReader = (values, bytes, start, end) => {
  const count = ancestorCount(end - start);
  for (let index = 0; index < count; index += 1) {
    const id = start + ancestorStart(index);
    values.add(bytes, id, id + ANCESTOR_CHARS);
  }
  return count;
};

/** Makes a reader of JSON lists of texts that parses each distinct list once. */
export function jsonListReader(): ListReader {
  const known = new TextDictionary();
  const lists: Uint8Array[][] = [];
  return (values, bytes, start, end) => {
    const number = known.add(bytes, start, end);
    const list = lists[number] ?? parsed(bytes.subarray(start, end));
    if (number >= 0) lists[number] = list;
    for (const text of list) values.add(text, 0, text.length);
    return list.length;
  };
}

function parsed(json: Uint8Array): Uint8Array[] {
  const list = JSON.parse(new TextDecoder().decode(json)) as string[];
  return list.map((text) => new TextEncoder().encode(text));
}
