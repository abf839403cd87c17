import { ByteWriter, type ParquetWriter, type SchemaElement } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { writeRleBitPackedHybrid } from "hyparquet-writer/src/encoding.js";
import type { Codec } from "./codecs.ts";
import type { FileOutput } from "./file-output.ts";
import type { PageBuffer } from "./page-buffer.ts";

/** The size of a page before compression. Readers always read whole pages. */
export const PAGE_BYTES = 1024 * 1024;

export type ChunkTarget = {
  output: FileOutput;
  codec: Codec;
  /** An empty buffer to collect values in. It must be left empty again. */
  page: PageBuffer;
  path: string[];
  element: SchemaElement;
};

type RowGroup = ParquetWriter["row_groups"][number];
type ColumnChunk = RowGroup["columns"][number];
export type WrittenChunk = { chunk: ColumnChunk; bloomFilter: Uint32Array | undefined };
type Statistics = NonNullable<NonNullable<ColumnChunk["meta_data"]>["statistics"]>;
type PageEncoding = "PLAIN" | "RLE_DICTIONARY";

type Levels = {
  /** Per value: 1 if it is present, else 0. Undefined when values cannot be missing. */
  definition: Uint8Array | undefined;
  /** Per value of a list: 0 where a list begins, else 1. Undefined when the column is not a list. */
  repetition: Uint8Array | undefined;
};

/**
 * Writes the pages of one column of one row group. They are written by hand because the library takes an array of
 * JavaScript values for a column, and here the values of a row group come as bytes and numbers, which is much less memory.
 */
export class ChunkWriter {
  readonly #target: ChunkTarget;
  readonly #start: number;
  #dataStart: number | null = null;
  #dictionaryStart: number | null = null;
  #encoding: PageEncoding = "PLAIN";
  #uncompressed = 0;
  #values = 0;
  #pages = 0;

  constructor(target: ChunkTarget) {
    this.#target = target;
    this.#start = target.output.offset;
  }

  /**
   * Writes the dictionary, after which all data pages consist of its indexes. `values` are in PLAIN encoding, and
   * may be changed.
   */
  async writeDictionary(values: Uint8Array, count: number): Promise<void> {
    const { output, codec } = this.#target;
    this.#dictionaryStart = output.offset;
    this.#checkJson(values);
    this.#encoding = "RLE_DICTIONARY";
    const compressed = codec.compress(values);
    writePageHeader(output.writer, {
      type: "DICTIONARY_PAGE",
      uncompressed_page_size: values.length,
      compressed_page_size: compressed.length,
      dictionary_page_header: { num_values: count, encoding: "PLAIN" },
    });
    this.#uncompressed += output.offset - this.#dictionaryStart + values.length;
    await output.append(compressed);
  }

  /** Writes a data page. `values` are the present ones, and may be changed; `count` includes missing ones. */
  async writePage(
    values: Uint8Array,
    { rows, count, levels }: { rows: number; count: number; levels: Levels },
  ): Promise<void> {
    const { output, codec } = this.#target;
    const start = output.offset;
    this.#dataStart ??= start;
    const encoded = new ByteWriter();
    const repetitionBytes = writeLevels(encoded, levels.repetition);
    const definitionBytes = writeLevels(encoded, levels.definition);
    this.#checkJson(values);
    const compressed = codec.compress(values);
    writePageHeader(output.writer, {
      type: "DATA_PAGE_V2",
      uncompressed_page_size: encoded.offset + values.length,
      compressed_page_size: encoded.offset + compressed.length,
      data_page_header_v2: {
        num_values: count,
        num_nulls: levels.definition === undefined ? 0 : zerosIn(levels.definition),
        num_rows: rows,
        encoding: this.#encoding,
        definition_levels_byte_length: definitionBytes,
        repetition_levels_byte_length: repetitionBytes,
        is_compressed: true,
      },
    });
    this.#uncompressed += output.offset - start + encoded.offset + values.length;
    await output.append(encoded.getBytes());
    await output.append(compressed);
    this.#values += count;
    this.#pages += 1;
  }

  #checkJson(values: Uint8Array): void {
    if (this.#encoding !== "PLAIN") return;
    if (this.#target.element.logical_type?.type === "JSON") replaceUnpairedSurrogates(values);
  }

  end(statistics: Statistics | undefined): ColumnChunk {
    const { output, codec, path, element } = this.#target;
    const { type } = element;
    if (type === undefined || this.#dataStart === null) throw new Error("a column without pages");
    const dictionary = this.#dictionaryStart !== null;
    return {
      file_offset: BigInt(this.#start),
      meta_data: {
        type,
        encodings: dictionary ? ["PLAIN", "RLE", "RLE_DICTIONARY"] : ["PLAIN", "RLE"],
        path_in_schema: path,
        codec: codec.name,
        num_values: BigInt(this.#values),
        total_compressed_size: BigInt(output.offset - this.#start),
        total_uncompressed_size: BigInt(this.#uncompressed),
        data_page_offset: BigInt(this.#dataStart),
        ...(this.#dictionaryStart === null
          ? {}
          : { dictionary_page_offset: BigInt(this.#dictionaryStart) }),
        ...(statistics === undefined ? {} : { statistics }),
        encoding_stats: [
          ...(dictionary
            ? [{ page_type: "DICTIONARY_PAGE" as const, encoding: "PLAIN" as const, count: 1 }]
            : []),
          { page_type: "DATA_PAGE_V2", encoding: this.#encoding, count: this.#pages },
        ],
      },
    };
  }
}

/** Writes levels of 0 and 1. Returns the number of bytes written. */
function writeLevels(writer: ByteWriter, levels: Uint8Array | undefined): number {
  if (levels === undefined) return 0;
  const first = levels[0];
  if (first === undefined || levels.indexOf(1 - first) !== -1) {
    return writeRleBitPackedHybrid(writer, levels, 1);
  }
  const start = writer.offset;
  writer.appendVarInt(levels.length << 1);
  writer.appendUint8(first);
  return writer.offset - start;
}

function zerosIn(levels: Uint8Array): number {
  let zeros = 0;
  for (const level of levels) zeros += 1 - level;
  return zeros;
}

const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const ESCAPE_CHARS = 6;

/** `\ufffd` without its first two characters. */
const REPLACEMENT = new TextEncoder().encode("fffd");

/**
 * Replaces escapes of unpaired surrogates in JSON texts by those of U+FFFD, in place and without changing the
 * length. Such escapes come from texts that were cut in the middle of a character. JSON's grammar allows them, but
 * readers of JSON columns refuse the whole file. Each text may be preceded by its length in four bytes.
 */
export function replaceUnpairedSurrogates(bytes: Uint8Array): void {
  let at = firstEscape(bytes);
  if (at === -1) return;
  // Going back to the first of consecutive backslashes shows which of them are escaped.
  while (bytes[at - 1] === BACKSLASH) at -= 1;
  while (at < bytes.length) {
    if (bytes[at] !== BACKSLASH) {
      at += 1;
      continue;
    }
    const half = surrogateAt(bytes, at);
    if (half === null) {
      at += 2;
    } else if (half === "high" && surrogateAt(bytes, at + ESCAPE_CHARS) === "low") {
      at += 2 * ESCAPE_CHARS;
    } else {
      bytes.set(REPLACEMENT, at + 2);
      at += ESCAPE_CHARS;
    }
  }
}

/** Returns where a possible escape of U+D000 or more begins, or -1. */
function firstEscape(bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const places = [String.raw`\ud`, String.raw`\uD`].map((start) => text.indexOf(start));
  const found = places.filter((place) => place !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}

function surrogateAt(bytes: Uint8Array, at: number): "high" | "low" | null {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== LOWER_U) return null;
  const digits = String.fromCharCode(...bytes.subarray(at + 2, at + ESCAPE_CHARS));
  if (/^d[89ab]/i.test(digits)) return "high";
  return /^d[c-f]/i.test(digits) ? "low" : null;
}
