import { type ChunkTarget, ChunkWriter, type WrittenChunk } from "./column-chunk.ts";
import { PageBuffer } from "./page-buffer.ts";
import { numberPage } from "./numbered-texts.ts";

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
