import type { RequiredTexts } from "../../filter/required-texts.ts";

/** Length of a gram: consecutive bytes of a text in UTF-8, with ASCII letters in lower case. */
const GRAM_BYTES = 4;
const MOST_BYTES = 64 * 1024;
const LEAST_BYTES = 1024;
/**
 * A filter is halved while no more of its bits than this are set: a word of six letters then has a false positive
 * in one of 37 filters.
 */
const MOST_SET_IF_HALVED = 0.3;
/** With more bits set than this, nearly every test of the filter would succeed. */
const MOST_SET = 0.7;

const encoder = new TextEncoder();
/** A buffer into which texts are encoded, one after the other; most texts are shorter. */
let encoded = new Uint8Array(64 * 1024);

/**
 * A Bloom filter of the grams of texts, with one bit per gram. It may contain what is no longer there, and never
 * lacks what is there.
 */
export class TextFilter {
  readonly #bits: Uint8Array;
  #set = 0;

  /** Restores a packed filter; without one, the filter is empty. */
  constructor(packed?: ArrayBuffer) {
    this.#bits = new Uint8Array(MOST_BYTES);
    if (packed === undefined) return;
    const stored = new Uint8Array(packed);
    for (let at = 0; at < MOST_BYTES; at += stored.length) this.#bits.set(stored, at);
    this.#set = setBits(this.#bits);
  }

  /** Whether it is useless to add more. */
  get isFull(): boolean {
    return this.#set > MOST_SET * MOST_BYTES * 8;
  }

  /** Returns true if some of the text was not known before. */
  add(text: string): boolean {
    const before = this.#set;
    const bits = this.#bits;
    eachGram(text, (gram) => {
      const bit = bitOf(gram) & (MOST_BYTES * 8 - 1);
      const byte = bits[bit >>> 3] ?? 0;
      const set = byte | (1 << (bit & 7));
      if (set === byte) return;
      bits[bit >>> 3] = set;
      this.#set += 1;
    });
    return this.#set !== before;
  }

  /** Returns the filter in as few bytes as are useful; null if it excludes nothing. */
  packed(): Uint8Array | null {
    if (this.isFull) return null;
    let bits = this.#bits.slice();
    while (bits.length > LEAST_BYTES) {
      const half = bits.slice(0, bits.length / 2);
      for (let at = 0; at < half.length; at += 1) {
        half[at] = (half[at] ?? 0) | (bits[half.length + at] ?? 0);
      }
      if (setBits(half) > MOST_SET_IF_HALVED * half.length * 8) break;
      bits = half;
    }
    return bits;
  }
}

/** Returns whether the texts of a packed filter may contain what is required. */
export type TextTest = (packed: Uint8Array) => boolean;

/** Prepares a test for what is required, to be applied to many filters. */
export function textTest(required: RequiredTexts): TextTest {
  if (required.kind === "text") {
    const bits: number[] = [];
    eachGram(required.text, (gram) => bits.push(bitOf(gram)));
    return (packed) => {
      const mask = packed.length * 8 - 1;
      return bits.every((bit) => {
        const place = bit & mask;
        return ((packed[place >>> 3] ?? 0) & (1 << (place & 7))) !== 0;
      });
    };
  }
  const tests = required.of.map(textTest);
  return required.kind === "all"
    ? (packed) => tests.every((test) => test(packed))
    : (packed) => tests.some((test) => test(packed));
}

function eachGram(text: string, take: (gram: number) => void): void {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  if (text.length * 3 > encoded.length) encoded = new Uint8Array(text.length * 3);
  const { written } = encoder.encodeInto(text, encoded);
  let gram = 0;
  for (let at = 0; at < written; at += 1) {
    const byte = encoded[at] ?? 0;
    // This does the same as SQLite's lower(), which changes only ASCII letters.
    const lower = byte >= 65 && byte <= 90 ? byte | 32 : byte;
    gram = (gram << 8) | lower;
    if (at >= GRAM_BYTES - 1) take(gram);
  }
}

/** Returns the bit of a gram in a filter of 2^32 bits; a smaller filter uses the last bits of this number. */
function bitOf(gram: number): number {
  const bits = Math.imul(gram ^ (gram >>> 15), 0x2c1b3c6d);
  return (bits ^ (bits >>> 14)) >>> 0;
}

function setBits(bits: Uint8Array): number {
  let count = 0;
  for (const word of new Uint32Array(bits.buffer, bits.byteOffset, bits.length / 4)) {
    let pairs = word - ((word >>> 1) & 0x55555555);
    pairs = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
    count += Math.imul((pairs + (pairs >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}
