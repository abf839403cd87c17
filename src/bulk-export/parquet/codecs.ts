import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import type { ExportCompression } from "../../db/bulk-export-schema.ts";

/**
 * A page compressor. `name` is that of the Parquet format. The result of `compress` is valid until the next call.
 */
export type Codec = {
  name: "UNCOMPRESSED" | "GZIP" | "SNAPPY" | "ZSTD";
  compress: (page: Uint8Array) => Uint8Array;
};

const GZIP_LEVEL = 4;
const ZSTD_LEVEL = 1;

/** Opens a codec for one file. */
export function openCodec(compression: ExportCompression): Codec {
  switch (compression) {
    case "none":
      return { name: "UNCOMPRESSED", compress: (page) => page };
    case "gzip":
      return { name: "GZIP", compress: (page) => gzipSync(page, { level: GZIP_LEVEL }) };
    case "snappy":
      return { name: "SNAPPY", compress: snappyCompressor() };
    case "zstandard":
      return {
        name: "ZSTD",
        compress: (page) =>
          zstdCompressSync(page, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }),
      };
    default:
      return compression satisfies never;
  }
}

/**
 * Snappy's block format. It is implemented here because the Parquet library's implementation would take most of an
 * export's time: this one reads and writes four bytes at a time, into one buffer of the maximum length.
 */

/** Blocks are compressed independently, so that all offsets fit into 16 bits. */
const BLOCK_BYTES = 65_536;
const HASH_BITS = 14;
const HASH_SHIFT = 32 - HASH_BITS;
const HASH_FACTOR = 0x1e35a7bd;
/** No match begins this close to a block's end, so that words can be read without bounds checks. */
const END_MARGIN = 15;
/** After this number of bytes without a match, as a power of two, steps grow. */
const SKIP_BITS = 5;

/** Positions in the block, by hash of the four bytes there. */
const table = new Uint16Array(1 << HASH_BITS);

/** Output buffers up to this size are kept and reused. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** Makes a compressor of byte blocks. Its result is valid until the next call. */
export function snappyCompressor(): (input: Uint8Array) => Uint8Array {
  let kept = new Uint8Array(0);
  return (input) => {
    const greatest = 32 + input.length + Math.ceil(input.length / 6);
    const output = kept.length >= greatest ? kept : new Uint8Array(greatest);
    if (greatest <= KEPT_BYTES) kept = output;
    const block: Block = {
      input,
      words: new DataView(input.buffer, input.byteOffset, input.byteLength),
      output,
      outputWords: new DataView(output.buffer),
    };
    let to = writeLength(output, input.length);
    for (let start = 0; start < input.length; start += BLOCK_BYTES) {
      to = compressBlock(block, start, Math.min(start + BLOCK_BYTES, input.length), to);
    }
    return output.subarray(0, to);
  };
}

type Block = {
  input: Uint8Array;
  words: DataView;
  output: Uint8Array;
  outputWords: DataView;
};

function writeLength(output: Uint8Array, length: number): number {
  let at = 0;
  let rest = length;
  while (rest >= 0x80) {
    output[at] = (rest & 0x7f) | 0x80;
    at += 1;
    rest >>>= 7;
  }
  output[at] = rest;
  return at + 1;
}

/** Writes the compressed block at `to`. Returns the end of the output. */
function compressBlock(block: Block, start: number, end: number, to: number): number {
  const { words } = block;
  const limit = end - END_MARGIN;
  let at = to;
  let literal = start;
  if (end - start >= END_MARGIN) {
    table.fill(0);
    let from = start + 1;
    let word = words.getUint32(from, true);
    let skip = 1 << SKIP_BITS;
    while (from < limit) {
      const hash = Math.imul(word, HASH_FACTOR) >>> HASH_SHIFT;
      const candidate = start + (table[hash] ?? 0);
      table[hash] = from - start;
      if (words.getUint32(candidate, true) === word) {
        at = writeLiteral(block, literal, from, at);
        const length = 4 + matchLength(words, candidate + 4, from + 4, end);
        at = writeCopy(block.output, from - candidate, length, at);
        from += length;
        literal = from;
        if (from >= limit) break;
        // Repetitions often begin directly after the last one.
        const before = words.getUint32(from - 1, true);
        table[Math.imul(before, HASH_FACTOR) >>> HASH_SHIFT] = from - 1 - start;
        word = words.getUint32(from, true);
        skip = 1 << SKIP_BITS;
      } else {
        from += skip >>> SKIP_BITS;
        skip += skip >>> SKIP_BITS;
        if (from >= limit) break;
        word = words.getUint32(from, true);
      }
    }
  }
  return literal < end ? writeLiteral(block, literal, end, at) : at;
}

/** Returns how many bytes at `left` equal those at `right`, before `end`. */
function matchLength(words: DataView, left: number, right: number, end: number): number {
  let length = 0;
  while (right + length + 4 <= end) {
    const difference = words.getUint32(left + length, true) ^ words.getUint32(right + length, true);
    if (difference !== 0) {
      return length + ((31 - Math.clz32(difference & -difference)) >>> 3);
    }
    length += 4;
  }
  while (right + length < end && words.getUint8(left + length) === words.getUint8(right + length)) {
    length += 1;
  }
  return length;
}

function writeLiteral(block: Block, from: number, end: number, to: number): number {
  const { input, words, output, outputWords } = block;
  const length = end - from;
  if (length === 0) return to;
  let at = to;
  const last = length - 1;
  if (last < 60) {
    output[at] = last << 2;
    at += 1;
  } else if (last < 0x100) {
    output[at] = 60 << 2;
    output[at + 1] = last;
    at += 2;
  } else {
    output[at] = 61 << 2;
    output[at + 1] = last & 0xff;
    output[at + 2] = last >>> 8;
    at += 3;
  }
  if (length > 64) {
    output.set(input.subarray(from, end), at);
    return at + length;
  }
  let copied = 0;
  for (; copied + 4 <= length; copied += 4) {
    outputWords.setUint32(at + copied, words.getUint32(from + copied, true), true);
  }
  for (; copied < length; copied += 1) output[at + copied] = input[from + copied] ?? 0;
  return at + length;
}

function writeCopy(output: Uint8Array, offset: number, length: number, to: number): number {
  let at = to;
  let rest = length;
  while (rest >= 68) {
    at = writeShortCopy(output, offset, 64, at);
    rest -= 64;
  }
  if (rest > 64) {
    at = writeShortCopy(output, offset, 60, at);
    rest -= 60;
  }
  return writeShortCopy(output, offset, rest, at);
}

/** Writes a copy of 4 to 64 bytes. */
function writeShortCopy(output: Uint8Array, offset: number, length: number, at: number): number {
  if (length < 12 && offset < 2048) {
    output[at] = 1 | ((length - 4) << 2) | ((offset >>> 8) << 5);
    output[at + 1] = offset & 0xff;
    return at + 2;
  }
  output[at] = 2 | ((length - 1) << 2);
  output[at + 1] = offset & 0xff;
  output[at + 2] = offset >>> 8;
  return at + 3;
}
