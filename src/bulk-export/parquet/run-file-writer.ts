import { ParquetWriter } from "hyparquet-writer";
import type { ExportCompression, ExportFormatVersion } from "../../db/bulk-export-schema.ts";
import type { ExportedRuns } from "../../tracing/model/columnar-runs.ts";
import type { RunPosition } from "../../tracing/model/run-page.ts";
import type { ExportLimits } from "../export-limits.ts";
import { openCodec } from "./codecs.ts";
import { type ExportColumn, fileSchema } from "./columns.ts";
import { FileOutput } from "./file-output.ts";
import { PageBuffer } from "./page-buffer.ts";
import { type GroupContext, writeRowGroup } from "./row-group.ts";
import { numbersOf, rowsIn, rowSizes, type RowSlice, startOf, textsOf } from "./row-slices.ts";
import type { PayloadStore } from "./stored-texts.ts";

/** Maximum bytes of a text column's bounds, which suffice for an id. */
const STATISTICS_BYTES = 64;
const CREATED_BY = "threadworks";

export type RunFileOptions = {
  workspaceId: string;
  projectId: string;
  version: ExportFormatVersion;
  compression: ExportCompression;
  columns: readonly ExportColumn[];
  limits: Pick<
    ExportLimits,
    | "rows_per_file"
    | "bytes_per_file"
    | "objects_per_file"
    | "rows_per_group"
    | "bytes_per_group"
    | "part_bytes"
  >;
  /** The store of large payloads. */
  payloads: PayloadStore;
  /** Receives parts of `part_bytes`, and at the end the rest. */
  write: (part: Uint8Array) => Promise<void>;
};

export type WrittenFile = {
  rows: number;
  /** The size of the file in bytes. */
  bytes: number;
  /** The start times of the first and the last run, in microseconds. */
  firstStart: number;
  lastStart: number;
  /** The position of the file's last run. */
  cursor: RunPosition;
};

/**
 * Writes runs into one Parquet file. It holds one row group, one page and one part in memory at a time; payloads
 * in R2 are read when their page is written. The runs of the file and of each row group are determined only by the
 * runs and the limits.
 */
export class RunFileWriter {
  readonly #options: RunFileOptions;
  readonly #output: FileOutput;
  readonly #file: ParquetWriter;
  readonly #group: GroupContext;
  #slices: RowSlice[] = [];
  #groupBytes = 0;
  #groupRows = 0;
  #bytes = 0;
  #objects = 0;
  #rows = 0;
  #firstStart: number | null = null;
  #last: RunPosition | null = null;
  #isFull = false;

  constructor(options: RunFileOptions) {
    this.#options = options;
    const { columns, version, limits, write } = options;
    const { schema, leaves } = fileSchema(columns, version);
    this.#output = new FileOutput(limits.part_bytes, write);
    this.#file = new ParquetWriter({
      writer: this.#output.writer,
      schema,
      statisticsTruncateLength: STATISTICS_BYTES,
      createdBy: CREATED_BY,
    });
    this.#group = {
      ...options,
      leaves,
      codec: openCodec(options.compression),
      page: new PageBuffer(),
    };
  }

  /** Whether no more runs fit into the file. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Adds as many of the runs as fit into the file. */
  async add({ runs, from, to }: ExportedRuns): Promise<void> {
    const { limits } = this.#options;
    const { bytes, objects } = rowSizes(runs);
    let start = from;
    for (let row = from; row < to; row += 1) {
      const rowBytes = bytes[row] ?? 0;
      const rowObjects = objects[row] ?? 0;
      if (this.#isFileFull(rowObjects)) {
        this.#isFull = true;
        this.#take(runs, start, row);
        return;
      }
      const rows = this.#groupRows + row - start;
      if (
        rows >= limits.rows_per_group ||
        (rows > 0 && this.#groupBytes + rowBytes > limits.bytes_per_group)
      ) {
        this.#take(runs, start, row);
        await this.#endGroup();
        start = row;
      }
      this.#groupBytes += rowBytes;
      this.#bytes += rowBytes;
      this.#objects += rowObjects;
      this.#rows += 1;
    }
    this.#take(runs, start, to);
  }

  /** Ends the file. Returns null, and writes nothing, when it got no runs. */
  async finish(): Promise<WrittenFile | null> {
    await this.#endGroup();
    if (this.#last === null || this.#firstStart === null) return null;
    await this.#file.finish();
    await this.#output.finish();
    return {
      rows: this.#rows,
      bytes: this.#output.offset,
      firstStart: this.#firstStart,
      lastStart: this.#last.startTime,
      cursor: this.#last,
    };
  }

  #isFileFull(moreObjects: number): boolean {
    const { rows_per_file, bytes_per_file, objects_per_file } = this.#options.limits;
    if (this.#rows === 0) return false;
    return (
      this.#rows >= rows_per_file ||
      this.#bytes >= bytes_per_file ||
      (moreObjects > 0 && this.#objects + moreObjects > objects_per_file)
    );
  }

  #take(runs: ExportedRuns["runs"], from: number, to: number): void {
    if (from === to) return;
    const starts = numbersOf(runs, "start_time");
    this.#firstStart ??= starts[from] ?? null;
    this.#last = { startTime: starts[to - 1] ?? NaN, id: idAt(runs, to - 1) };
    this.#slices.push({ runs, from, to });
    this.#groupRows += to - from;
  }

  async #endGroup(): Promise<void> {
    const slices = this.#slices;
    this.#slices = [];
    this.#groupBytes = 0;
    this.#groupRows = 0;
    if (rowsIn(slices) === 0) return;
    await writeRowGroup(this.#group, this.#file, this.#output, slices);
  }
}

function idAt(runs: ExportedRuns["runs"], row: number): string {
  const ids = textsOf(runs, "id");
  const start = startOf(ids, row);
  return new TextDecoder().decode(ids.bytes.subarray(start, start + (ids.lengths[row] ?? 0)));
}
