import { optimalNumBytes } from "hyparquet-writer/src/bloom.js";
import { xxhash64 } from "./xxhash.ts";

const FALSE_POSITIVES = 0.01;
const MAX_BYTES = 1024 * 1024;
const WORDS_PER_BLOCK = 8;

/** The salts that Parquet gives its split block bloom filter. */
const SALTS = [
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
] as const;

/** The texts of one column of one row group. */
export class BloomFilter {
  readonly words: Uint32Array;
  /** What was added last: runs of one trace come one after the other. */
  #source: Uint8Array | null = null;
  #start = 0;
  #end = 0;

  /** Sized for so many distinct texts. */
  constructor(texts: number) {
    const bytes = Math.min(optimalNumBytes(texts, FALSE_POSITIVES), MAX_BYTES);
    this.words = new Uint32Array(bytes / Uint32Array.BYTES_PER_ELEMENT);
  }

  add(source: Uint8Array, start: number, end: number): void {
    if (source === this.#source && this.#isLast(source, start, end)) return;
    this.#source = source;
    this.#start = start;
    this.#end = end;
    const { words } = this;
    const { high, low } = xxhash64(source, start, end);
    const block = Math.floor((high * (words.length / WORDS_PER_BLOCK)) / 2 ** 32);
    let at = block * WORDS_PER_BLOCK;
    for (const salt of SALTS) {
      words[at] = (words[at] ?? 0) | (1 << (Math.imul(low, salt) >>> 27));
      at += 1;
    }
  }

  #isLast(source: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    if (length !== this.#end - this.#start) return false;
    for (let index = 0; index < length; index += 1) {
      if (source[start + index] !== source[this.#start + index]) return false;
    }
    return true;
  }
}
