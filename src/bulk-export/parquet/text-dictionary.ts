import { PageBuffer } from "./page-buffer.ts";

/** With longer texts, or more of them, a dictionary would rather cost than save. */
const MAX_TEXT_BYTES = 256;
const MAX_ENTRIES = 4096;
const SLOTS = 4 * MAX_ENTRIES;

/** The distinct texts of a column, numbered as they come. */
export class TextDictionary {
  readonly values = new PageBuffer();
  readonly #slots = new Int32Array(SLOTS).fill(-1);
  readonly #entries: Uint8Array[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** The text's number; -1 when it does not fit in. */
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

/** FNV-1a. */
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
