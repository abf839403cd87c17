import type { PackedTexts } from "../../tracing/model/packed-runs.ts";
import { startOf, type TextSlice } from "./row-slices.ts";

/** `YYYYMMDDTHHMMSSffffffZ` and an id, and the same with the dot behind it. */
const TIME_CHARS = 22;
const ID_CHARS = 36;
const SEGMENT_CHARS = TIME_CHARS + ID_CHARS;
const STEP = SEGMENT_CHARS + 1;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/** How many runs are above one with a dotted order of this length. */
export function ancestorCount(length: number): number {
  return Math.max(0, (length - SEGMENT_CHARS) / STEP);
}

/** Where in a dotted order the id of an ancestor begins, counted from the root. */
export function ancestorStart(index: number): number {
  return index * STEP + TIME_CHARS;
}

export const ANCESTOR_CHARS = ID_CHARS;

/** The ids from the root down to the direct parent as JSON lists. */
export function ancestorLists({ texts, from, to }: TextSlice): TextSlice {
  const { bytes, lengths } = texts;
  let size = 0;
  for (let row = from; row < to; row += 1) {
    size += 2 + ancestorCount(lengths[row] ?? 0) * (ID_CHARS + 3);
  }
  const lists: PackedTexts = {
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
