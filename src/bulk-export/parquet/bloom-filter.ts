import { optimalNumBytes } from "hyparquet-writer/src/bloom.js";

const FALSE_POSITIVES = 0.01;
const MAX_BYTES = 1024 * 1024;
const WORDS_PER_BLOCK = 8;

/** The salts of Parquet's split block bloom filter. */
const SALTS = [
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
] as const;

/** A bloom filter of the texts of one column in one row group. */
export class BloomFilter {
  readonly words: Uint32Array;
  /** The text that was added last; it is not added again, since runs of one trace follow each other. */
  #source: Uint8Array | null = null;
  #start = 0;
  #end = 0;

  /** Makes a filter for `texts` distinct texts. */
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

/**
 * XXH64 with seed 0, computed in halves of 32 bits. BigInt would take several times as long, and a Parquet bloom
 * filter hashes every value of its column.
 */

/** A signed half of a 64-bit integer. */
type Half = number;

/** The multipliers, each as its high and its low half. */
const P1H = 0x9e3779b1 | 0;
const P1L = 0x85ebca87 | 0;
const P2H = 0xc2b2ae3d | 0;
const P2L = 0x27d4eb4f | 0;
const P3H = 0x165667b1 | 0;
const P3L = 0x9e3779f9 | 0;
const P4H = 0x85ebca77 | 0;
const P4L = 0xc2b2ae63 | 0;
const P5H = 0x27d4eb2f | 0;
const P5L = 0x165667c5 | 0;

/** The initial lanes: P1 + P2, P2, 0, -P1. */
const FIRST_LANES = [0x60ea27ee, 0xadc0b5d6, P2H, P2L, 0, 0, 0x61c8864e, 0x7a143579] as const;
const LANES = 4;
const LANE_BYTES = 8;
const STRIPE_BYTES = LANES * LANE_BYTES;
const LANE_ROTATIONS = [1, 7, 12, 18] as const;

/** High and low halves in turns. Typed arrays avoid allocations for numbers of this size and for return values. */
const lanes = new Int32Array(2 * LANES);
/** The hash so far. */
const hash = new Int32Array(2);
/** The result of the last operation. */
const result = new Int32Array(2);

/** Returns the hash's high and low half as unsigned numbers. */
export function xxhash64(
  bytes: Uint8Array,
  start: number,
  end: number,
): { high: number; low: number } {
  let at = start;
  if (end - start >= STRIPE_BYTES) {
    at = hashStripes(bytes, start, end);
  } else {
    hash[0] = P5H;
    hash[1] = P5L;
  }
  add(hash[0] ?? 0, hash[1] ?? 0, 0, end - start);
  keep();
  for (; at + LANE_BYTES <= end; at += LANE_BYTES) {
    round(0, 0, word(bytes, at + 4), word(bytes, at));
    mix(27);
    times(P1H, P1L);
    plus(P4H, P4L);
    keep();
  }
  if (at + 4 <= end) {
    multiply(0, word(bytes, at), P1H, P1L);
    mix(23);
    times(P2H, P2L);
    plus(P3H, P3L);
    keep();
    at += 4;
  }
  for (; at < end; at += 1) {
    multiply(0, bytes[at] ?? 0, P5H, P5L);
    mix(11);
    times(P1H, P1L);
    keep();
  }
  // The final mix shifts right by 33, 29 and 32.
  let high = hash[0] ?? 0;
  let low = hash[1] ?? 0;
  multiply(high, low ^ (high >>> 1), P2H, P2L);
  high = result[0] ?? 0;
  low = result[1] ?? 0;
  multiply(high ^ (high >>> 29), low ^ ((low >>> 29) | (high << 3)), P3H, P3L);
  high = result[0] ?? 0;
  low = result[1] ?? 0;
  return { high: high >>> 0, low: (low ^ high) >>> 0 };
}

/** Hashes all complete stripes. Returns the end of the last one. */
function hashStripes(bytes: Uint8Array, start: number, end: number): number {
  lanes.set(FIRST_LANES);
  let at = start;
  for (; at + STRIPE_BYTES <= end; at += STRIPE_BYTES) {
    for (let lane = 0; lane < LANES; lane += 1) {
      const from = at + lane * LANE_BYTES;
      const slot = lane * 2;
      round(lanes[slot] ?? 0, lanes[slot + 1] ?? 0, word(bytes, from + 4), word(bytes, from));
      lanes[slot] = result[0] ?? 0;
      lanes[slot + 1] = result[1] ?? 0;
    }
  }
  hash[0] = 0;
  hash[1] = 0;
  for (let lane = 0; lane < LANES; lane += 1) {
    rotate(lanes[lane * 2] ?? 0, lanes[lane * 2 + 1] ?? 0, LANE_ROTATIONS[lane] ?? 0);
    plus(hash[0], hash[1]);
    keep();
  }
  for (let lane = 0; lane < LANES; lane += 1) {
    round(0, 0, lanes[lane * 2] ?? 0, lanes[lane * 2 + 1] ?? 0);
    result[0] = (result[0] ?? 0) ^ hash[0];
    result[1] = (result[1] ?? 0) ^ hash[1];
    times(P1H, P1L);
    plus(P4H, P4L);
    keep();
  }
  return at;
}

function keep(): void {
  hash[0] = result[0] ?? 0;
  hash[1] = result[1] ?? 0;
}

/** XORs the result into the hash, and rotates it to the left. */
function mix(by: number): void {
  rotate((hash[0] ?? 0) ^ (result[0] ?? 0), (hash[1] ?? 0) ^ (result[1] ?? 0), by);
}

function times(high: Half, low: Half): void {
  multiply(result[0] ?? 0, result[1] ?? 0, high, low);
}

function plus(high: Half, low: Half): void {
  add(result[0] ?? 0, result[1] ?? 0, high, low);
}

function round(high: Half, low: Half, inputHigh: Half, inputLow: Half): void {
  multiply(inputHigh, inputLow, P2H, P2L);
  plus(high, low);
  rotate(result[0] ?? 0, result[1] ?? 0, 31);
  times(P1H, P1L);
}

function word(bytes: Uint8Array, at: number): Half {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}

function add(ah: Half, al: Half, bh: Half, bl: Half): void {
  const sum = (al + bl) | 0;
  result[0] = (ah + bh + (sum >>> 0 < al >>> 0 ? 1 : 0)) | 0;
  result[1] = sum;
}

function multiply(ah: Half, al: Half, bh: Half, bl: Half): void {
  const a0 = al & 0xffff;
  const a1 = al >>> 16;
  const b0 = bl & 0xffff;
  const b1 = bl >>> 16;
  const middle = (Math.imul(a1, b0) + (Math.imul(a0, b0) >>> 16)) >>> 0;
  const other = (Math.imul(a0, b1) + (middle & 0xffff)) >>> 0;
  const carried = (middle >>> 16) + (other >>> 16);
  result[0] = (Math.imul(a1, b1) + carried + Math.imul(ah, bl) + Math.imul(al, bh)) | 0;
  result[1] = Math.imul(al, bl);
}

/** Rotates to the left, by less than 32 bits. */
function rotate(high: Half, low: Half, by: number): void {
  result[0] = (high << by) | (low >>> (32 - by));
  result[1] = (low << by) | (high >>> (32 - by));
}
