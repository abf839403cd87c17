import { NO_TEXT, STORED_TEXT } from "../../tracing/model/columnar-runs.ts";
import { BloomFilter } from "./bloom-filter.ts";
import { type ChunkTarget, ChunkWriter, PAGE_BYTES, type WrittenChunk } from "./column-chunk.ts";
import { numberPage, numberTexts, writeDictionaryPages } from "./text-dictionary.ts";
import { PageBuffer } from "./page-buffer.ts";
import { startOf, type TextSlice } from "./row-slices.ts";
import { type PayloadStore, type OpenedPayload, StoredTexts } from "./stored-texts.ts";

type TextOptions = {
  required: boolean;
  /** Whether a dictionary is tried. */
  repeats: boolean;
  statistics: boolean;
  bloomFilter: boolean;
  /** Whether payloads in R2 are JSON strings that have to be decoded. */
  isJsonString: boolean;
};

const JSON_NULL = new TextEncoder().encode("null");

/** Writes a column of texts. */
export async function writeTexts(
  target: ChunkTarget,
  bucket: PayloadStore,
  slices: readonly TextSlice[],
  options: TextOptions,
): Promise<WrittenChunk> {
  const rows = slices.reduce((sum, { from, to }) => sum + to - from, 0);
  const stored = slices.flatMap(({ texts, from, to }) =>
    texts.stored.filter(({ row }) => row >= from && row < to),
  );
  const writer = new ChunkWriter(target);
  const numbered = options.repeats && stored.length === 0 ? numberTexts(slices, rows) : null;
  if (numbered !== null) {
    await writeDictionaryPages(writer, numbered, options.required);
    const bounds = new ByteBounds();
    for (let entry = 0; entry < numbered.dictionary.size; entry += 1) {
      const text = numbered.dictionary.entry(entry);
      if (text !== undefined) bounds.add(text, 0, text.length);
    }
    const chunk = writer.end(statistics(options, bounds, numbered.missing));
    return { chunk, bloomFilter: undefined };
  }
  const objects = new StoredTexts(bucket, stored);
  try {
    const facts = await writePlain(writer, target.page, objects, slices, rows, options);
    const chunk = writer.end(statistics(options, facts.bounds, facts.missing));
    return { chunk, bloomFilter: facts.filter?.words };
  } finally {
    await objects.close();
  }
}

function statistics(options: TextOptions, bounds: ByteBounds, missing: number) {
  if (!options.statistics) return undefined;
  const { min, max } = bounds;
  const values = min === undefined || max === undefined ? {} : { min_value: min, max_value: max };
  return { ...values, null_count: BigInt(missing) };
}

type Facts = { bounds: ByteBounds; missing: number; filter: BloomFilter | null };

async function writePlain(
  writer: ChunkWriter,
  page: PageBuffer,
  objects: StoredTexts,
  slices: readonly TextSlice[],
  rows: number,
  options: TextOptions,
): Promise<Facts> {
  const bounds = new ByteBounds();
  const filter = options.bloomFilter ? new BloomFilter(rows) : null;
  const { required } = options;
  const definition = new Uint8Array(required ? 0 : rows);
  let missing = 0;
  let count = 0;
  let pageStart = 0;
  const endPage = async (): Promise<void> => {
    if (count === pageStart) return;
    const levels = required ? undefined : definition.subarray(pageStart, count);
    const pageRows = count - pageStart;
    await writer.writePage(page.bytes(), {
      rows: pageRows,
      count: pageRows,
      levels: { definition: levels, repetition: undefined },
    });
    page.clear();
    pageStart = count;
  };
  for (const { texts, from, to } of slices) {
    const { bytes, lengths } = texts;
    let start = startOf(texts, from);
    for (let row = from; row < to; row += 1) {
      const length = lengths[row] ?? NO_TEXT;
      if (length >= 0) {
        const end = start + length;
        page.add(bytes, start, end);
        if (options.statistics) bounds.add(bytes, start, end);
        filter?.add(bytes, start, end);
        start = end;
        if (!required) definition[count] = 1;
      } else if (length === STORED_TEXT) {
        if (page.used > 0) await endPage();
        await addStored(page, await objects.next(), options);
        if (!required) definition[count] = 1;
      } else {
        if (required) throw new Error("a run lacks a required value");
        missing += 1;
      }
      count += 1;
      if (page.used >= PAGE_BYTES) await endPage();
    }
  }
  await endPage();
  return { bounds, missing, filter };
}

/** Adds a payload. It is not included in statistics, so its bytes need no other processing. */
async function addStored(
  page: PageBuffer,
  object: OpenedPayload | null,
  { isJsonString }: TextOptions,
): Promise<void> {
  if (object === null) {
    page.add(JSON_NULL, 0, JSON_NULL.length);
  } else if (isJsonString) {
    const text = new TextEncoder().encode(String(JSON.parse(await object.text())));
    page.add(text, 0, text.length);
  } else {
    await page.addStream(object.body, object.size);
  }
}

/** Writes a column in which all rows have the same text. */
export async function writeConstant(
  target: ChunkTarget,
  rows: number,
  text: string,
): Promise<WrittenChunk> {
  const bytes = new TextEncoder().encode(text);
  const dictionary = new PageBuffer();
  dictionary.add(bytes, 0, bytes.length);
  const writer = new ChunkWriter(target);
  await writer.writeDictionary(dictionary.bytes(), 1);
  const levels = { definition: undefined, repetition: undefined };
  await writer.writePage(numberPage(new Int32Array(rows), 1), { rows, count: rows, levels });
  const chunk = writer.end({ min_value: bytes, max_value: bytes, null_count: 0n });
  return { chunk, bloomFilter: undefined };
}

/** The minimum and maximum of texts, in the order of their UTF-8 bytes. */
class ByteBounds {
  #min: Uint8Array | null = null;
  #max: Uint8Array | null = null;

  /** Adds the bytes of `source` from `start` up to, but not including, `end`. `source` is not kept. */
  add(source: Uint8Array, start: number, end: number): void {
    if (this.#min === null || this.#max === null) {
      this.#min = source.slice(start, end);
      this.#max = this.#min;
      return;
    }
    if (compare(source, start, end, this.#min) < 0) this.#min = source.slice(start, end);
    else if (compare(source, start, end, this.#max) > 0) this.#max = source.slice(start, end);
  }

  get min(): Uint8Array | undefined {
    return this.#min ?? undefined;
  }

  get max(): Uint8Array | undefined {
    return this.#max ?? undefined;
  }
}

function compare(source: Uint8Array, start: number, end: number, other: Uint8Array): number {
  const common = Math.min(end - start, other.length);
  for (let index = 0; index < common; index += 1) {
    const difference = (source[start + index] ?? 0) - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return end - start - other.length;
}
