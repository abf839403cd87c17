import type { RequiredTexts } from "../../filter/required-texts.ts";

/** Four bytes of UTF-8 that follow each other, ASCII letters in lower case: what a text is made of here. */
const GRAM_BYTES = 4;
const MOST_BYTES = 64 * 1024;
const LEAST_BYTES = 1024;
/** A filter is halved as long as no more of its bits are set: a word of six letters is then found in vain in one of 37. */
const MOST_SET_IF_HALVED = 0.3;
/** With more bits set than this, a filter would say yes to nearly everything. */
const MOST_SET = 0.7;

const encoder = new TextEncoder();
/** Texts are encoded into it, one after the other; most are shorter. */
let encoded = new Uint8Array(64 * 1024);

/**
 * A Bloom filter of the grams of texts, of one bit for each. It may know of what is not there any more, and never lacks
 * what is there.
 */
export class TextFilter {
  readonly #bits: Uint8Array;
  #set = 0;

  /** As it was packed; of no texts without that. */
  constructor(packed?: ArrayBuffer) {
    this.#bits = new Uint8Array(MOST_BYTES);
    if (packed === undefined) return;
    const stored = new Uint8Array(packed);
    for (let at = 0; at < MOST_BYTES; at += stored.length) this.#bits.set(stored, at);
    this.#set = setBits(this.#bits);
  }

  /** Whether there is a use in adding more. */
  get isFull(): boolean {
    return this.#set > MOST_SET * MOST_BYTES * 8;
  }

  /** True when some of it was not known before. */
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

  /** In as few bytes as tell enough; null when it tells nothing. */
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

/** Whether texts of which this is the packed filter may be such. */
export type TextTest = (packed: Uint8Array) => boolean;

/** What is required, ready to be asked of many filters. */
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
  // A UTF-16 unit takes three bytes at most.
  if (text.length * 3 > encoded.length) encoded = new Uint8Array(text.length * 3);
  const { written } = encoder.encodeInto(text, encoded);
  let gram = 0;
  for (let at = 0; at < written; at += 1) {
    const byte = encoded[at] ?? 0;
    // What SQLite's lower() does, which leaves all but ASCII as it is.
    const lower = byte >= 65 && byte <= 90 ? byte | 32 : byte;
    gram = (gram << 8) | lower;
    if (at >= GRAM_BYTES - 1) take(gram);
  }
}

/** The bit that stands for a gram in a filter of 2^32 bits; a smaller one takes the last of its digits. */
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
