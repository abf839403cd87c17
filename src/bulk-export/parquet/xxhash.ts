/**
 * XXH64 with seed 0, in halves of 32 bits: with BigInt it takes several times as long, and a Parquet
 * bloom filter hashes every value of its column.
 */

type Half = number;

/** The multipliers, each as its high and its low half. */
const P1H = 0x9e3779b1;
const P1L = 0x85ebca87;
const P2H = 0xc2b2ae3d;
const P2L = 0x27d4eb4f;
const P3H = 0x165667b1;
const P3L = 0x9e3779f9;
const P4H = 0x85ebca77;
const P4L = 0xc2b2ae63;
const P5H = 0x27d4eb2f;
const P5L = 0x165667c5;

/** The result of the last operation: returning both halves would allocate. */
let high: Half = 0;
let low: Half = 0;

/** The hash's high and low half, as unsigned numbers. Valid until the next one. */
export function xxhash64(
  bytes: Uint8Array,
  start: number,
  end: number,
): { high: number; low: number } {
  const length = end - start;
  let at = start;
  let h: Half;
  let l: Half;
  if (length >= 32) {
    // P1 + P2, P2, 0, -P1
    let ah = 0x60ea27ee | 0;
    let al = 0xadc0b5d6 | 0;
    let bh = P2H | 0;
    let bl = P2L | 0;
    let ch = 0;
    let cl = 0;
    let dh = 0x61c8864e | 0;
    let dl = 0x7a143579 | 0;
    for (; at + 32 <= end; at += 32) {
      round(ah, al, word(bytes, at + 4), word(bytes, at));
      ah = high;
      al = low;
      round(bh, bl, word(bytes, at + 12), word(bytes, at + 8));
      bh = high;
      bl = low;
      round(ch, cl, word(bytes, at + 20), word(bytes, at + 16));
      ch = high;
      cl = low;
      round(dh, dl, word(bytes, at + 28), word(bytes, at + 24));
      dh = high;
      dl = low;
    }
    rotate(ah, al, 1);
    h = high;
    l = low;
    rotate(bh, bl, 7);
    add(h, l, high, low);
    h = high;
    l = low;
    rotate(ch, cl, 12);
    add(h, l, high, low);
    h = high;
    l = low;
    rotate(dh, dl, 18);
    add(h, l, high, low);
    merge(high, low, ah, al);
    merge(high, low, bh, bl);
    merge(high, low, ch, cl);
    merge(high, low, dh, dl);
    h = high;
    l = low;
  } else {
    h = P5H | 0;
    l = P5L | 0;
  }
  add(h, l, 0, length);
  h = high;
  l = low;
  for (; at + 8 <= end; at += 8) {
    round(0, 0, word(bytes, at + 4), word(bytes, at));
    rotate(h ^ high, l ^ low, 27);
    multiply(high, low, P1H, P1L);
    add(high, low, P4H, P4L);
    h = high;
    l = low;
  }
  if (at + 4 <= end) {
    multiply(0, word(bytes, at), P1H, P1L);
    rotate(h ^ high, l ^ low, 23);
    multiply(high, low, P2H, P2L);
    add(high, low, P3H, P3L);
    h = high;
    l = low;
    at += 4;
  }
  for (; at < end; at += 1) {
    multiply(0, bytes[at] ?? 0, P5H, P5L);
    rotate(h ^ high, l ^ low, 11);
    multiply(high, low, P1H, P1L);
    h = high;
    l = low;
  }
  // Shifted right by 33, 29 and 32.
  multiply(h, l ^ (h >>> 1), P2H, P2L);
  multiply(high ^ (high >>> 29), low ^ ((low >>> 29) | (high << 3)), P3H, P3L);
  return { high: high >>> 0, low: (low ^ high) >>> 0 };
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
  const sum = (al >>> 0) + (bl >>> 0);
  low = sum | 0;
  high = (ah + bh + (sum > 0xffffffff ? 1 : 0)) | 0;
}

function multiply(ah: Half, al: Half, bh: Half, bl: Half): void {
  const a0 = al & 0xffff;
  const a1 = al >>> 16;
  const b0 = bl & 0xffff;
  const b1 = bl >>> 16;
  const lowest = Math.imul(a0, b0);
  // Each of these is below 2^32, but their sums are not.
  const middle = a1 * b0 + (lowest >>> 16);
  const other = a0 * b1 + (middle % 0x10000);
  const carried = Math.floor(middle / 0x10000) + Math.floor(other / 0x10000);
  low = Math.imul(al, bl);
  high = (a1 * b1 + carried + Math.imul(ah, bl) + Math.imul(al, bh)) | 0;
}

/** To the left, by less than 32. */
function rotate(h: Half, l: Half, by: number): void {
  high = (h << by) | (l >>> (32 - by));
  low = (l << by) | (h >>> (32 - by));
}

function round(h: Half, l: Half, inputHigh: Half, inputLow: Half): void {
  multiply(inputHigh, inputLow, P2H, P2L);
  add(h, l, high, low);
  rotate(high, low, 31);
  multiply(high, low, P1H, P1L);
}

function merge(h: Half, l: Half, laneHigh: Half, laneLow: Half): void {
  round(0, 0, laneHigh, laneLow);
  multiply(h ^ high, l ^ low, P1H, P1L);
  add(high, low, P4H, P4L);
}
