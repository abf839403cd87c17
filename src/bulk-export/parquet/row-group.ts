import type { ParquetWriter } from "hyparquet-writer";
import type { ExportFormatVersion } from "../../db/bulk-export-schema.ts";
import { ancestorLists, jsonListReader, readAncestors, writeLists } from "./list-chunk.ts";
import type { Codec } from "./codecs.ts";
import type { ChunkTarget, WrittenChunk } from "./column-chunk.ts";
import type { ExportColumn, fileSchema } from "./columns.ts";
import type { FileOutput } from "./file-output.ts";
import { writeIsRoot, writeNumbers } from "./number-chunk.ts";
import type { PageBuffer } from "./page-buffer.ts";
import { type RowSlice, rowsIn, textsOf, type TextSlice } from "./row-slices.ts";
import { writeConstant, writeTexts } from "./text-chunk.ts";
import type { TextColumn } from "../../tracing/model/columnar-runs.ts";
import type { PayloadStore } from "./stored-texts.ts";

const PICODOLLARS = 1e12;

export type GroupContext = {
  payloads: PayloadStore;
  workspaceId: string;
  projectId: string;
  version: ExportFormatVersion;
  codec: Codec;
  page: PageBuffer;
  columns: readonly ExportColumn[];
  leaves: ReturnType<typeof fileSchema>["leaves"];
};

/** Writes the rows as one row group, column by column. */
export async function writeRowGroup(
  context: GroupContext,
  file: ParquetWriter,
  output: FileOutput,
  slices: readonly RowSlice[],
): Promise<void> {
  const { columns, leaves, codec, page } = context;
  const start = output.offset;
  const written: WrittenChunk[] = [];
  for (const [index, column] of columns.entries()) {
    const leaf = leaves[index];
    if (leaf === undefined) throw new Error("a column without a leaf");
    written.push(await writeColumn(context, { output, codec, page, ...leaf }, column, slices));
  }
  for (const { chunk, bloomFilter } of written) {
    file.pendingIndexes.push(bloomFilter === undefined ? { chunk } : { chunk, bloomFilter });
  }
  const chunks = written.map(({ chunk }) => chunk);
  const rows = BigInt(rowsIn(slices));
  const sortedBy = columns.findIndex(({ name }) => name === "start_time");
  file.num_rows += rows;
  file.row_groups.push({
    columns: chunks,
    num_rows: rows,
    total_byte_size: chunks.reduce(
      (sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n),
      0n,
    ),
    total_compressed_size: BigInt(output.offset - start),
    ...(sortedBy === -1
      ? {}
      : { sorting_columns: [{ column_idx: sortedBy, descending: false, nulls_first: false }] }),
  });
}

async function writeColumn(
  context: GroupContext,
  target: ChunkTarget,
  column: ExportColumn,
  slices: readonly RowSlice[],
): Promise<WrittenChunk> {
  const { source, required } = column;
  const texts = (name: TextColumn): TextSlice[] =>
    slices.map(({ runs, from, to }) => ({ texts: textsOf(runs, name), from, to }));
  const options = {
    ...column,
    isJsonString: source.kind === "text" && source.isJsonString === true,
  };
  switch (source.kind) {
    case "workspace":
      return writeConstant(target, rowsIn(slices), context.workspaceId);
    case "project":
      return writeConstant(target, rowsIn(slices), context.projectId);
    case "isRoot":
      return writeIsRoot(target, slices);
    case "number": {
      const isInteger = source.unit !== "picodollars" || context.version === "v2_beta";
      const format = isInteger
        ? { type: "INT64" as const }
        : { type: "DOUBLE" as const, divisor: PICODOLLARS };
      return writeNumbers(target, slices, source.column, { format, required });
    }
    case "text":
      return writeTexts(target, context.payloads, texts(source.column), options);
    case "tags":
      return context.version === "v1"
        ? writeTexts(target, context.payloads, texts("tags"), options)
        : writeLists(target, texts("tags"), jsonListReader());
    case "ancestors":
      return context.version === "v1"
        ? writeTexts(target, context.payloads, texts("dotted_order").map(ancestorLists), options)
        : writeLists(target, texts("dotted_order"), readAncestors);
    default:
      return source satisfies never;
  }
}
