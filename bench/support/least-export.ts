import { createHash, type Hash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { exportLimitsSchema } from "../../src/bulk-export/export-limits.ts";
import { openCodec } from "../../src/bulk-export/parquet/codecs.ts";
import { PAGE_BYTES } from "../../src/bulk-export/parquet/column-chunk.ts";
import { chosenColumns, type ExportColumn } from "../../src/bulk-export/parquet/columns.ts";
import { ID_CHARS, SEGMENT_CHARS } from "../../src/tracing/model/dotted-order.ts";

const LIMITS = exportLimitsSchema.parse({});

/** The length of a page's buffer: a page ends with the text that exceeds its size. */
const BUFFER_BYTES = 2 * PAGE_BYTES;

export type LeastExport = { ms: number; cpuMs: number; rows: number; bytes: number };

/**
 * Does the least that an export to S3 must do with a shard's file, in this thread: reads the exported columns row by row
 * with SQLite, collects their bytes in pages of the platform's size, compresses these with the platform's snappy, and
 * computes the two digests of the parts. There is no Parquet, no statistics or filters, no other isolate, and no HTTP.
 */
export function leastExport(shardFile: string): LeastExport {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const database = new DatabaseSync(shardFile, { readOnly: true });
  const columns = chosenColumns(null).flatMap((column) => columnOf(column) ?? []);
  const selected = columns.map(({ sql }) => sql).join(", ");
  const statement = database.prepare(`SELECT ${selected} FROM runs r ORDER BY key`);
  statement.setReturnArrays(true);
  const pages = columns.map((column) => column.pages);
  const parts = new Parts();
  let rows = 0;
  let groupRows = 0;
  let groupBytes = 0;
  const endGroup = (): void => {
    for (const each of pages) each.endGroup(parts);
    groupRows = 0;
    groupBytes = 0;
  };
  for (const row of statement.iterate() as Iterable<unknown>) {
    const values = row as unknown[];
    for (let index = 0; index < pages.length; index += 1) {
      groupBytes += pages[index]?.add(values[index], parts) ?? 0;
    }
    rows += 1;
    groupRows += 1;
    if (groupRows === LIMITS.rows_per_group || groupBytes >= LIMITS.bytes_per_group) endGroup();
  }
  endGroup();
  parts.end();
  database.close();
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuMs = (user + system) / 1000;
  return { ms: performance.now() - startedAt, cpuMs, rows, bytes: parts.bytes };
}

/** How a column's values become bytes. The texts of a column that repeats are written once in each row group. */
type Kind = "number" | "text" | "repeated" | "ancestors";

type Column = { sql: string; pages: Pages };

/** Returns null for columns that are not read from the run's row, or of which the file has a bit for each run. */
function columnOf({ source, repeats }: ExportColumn): Column | null {
  switch (source.kind) {
    case "number":
      return { sql: `r.${source.column}`, pages: new Pages("number") };
    case "text":
      return { sql: textSql(source.column), pages: new Pages(repeats ? "repeated" : "text") };
    case "tags":
      return { sql: "r.tags", pages: new Pages("repeated") };
    case "ancestors":
      return { sql: "r.dotted_order", pages: new Pages("ancestors") };
    default:
      return null;
  }
}

function textSql(column: string): string {
  if (column === "trace_tier") return "(SELECT tier FROM traces WHERE trace_id = r.trace_id)";
  return column === "error" ? "r.error_json" : `r.${column}`;
}

/** The pages of one column, in Parquet's plain encoding. */
class Pages {
  readonly #kind: Kind;
  readonly #page = Buffer.alloc(BUFFER_BYTES);
  /** The texts of this row group's dictionary. */
  readonly #known = new Set<string>();
  #used = 0;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /** Adds a row's value, and returns its size. */
  add(value: unknown, parts: Parts): number {
    if (value === null) return 0;
    if (this.#kind === "number") {
      this.#page.writeDoubleLE(Number(value), this.#used);
      this.#used += 8;
      return 8;
    }
    // The texts of the benchmark's runs are all in the rows of their runs.
    if (typeof value !== "string") throw new Error("A payload is not in its row");
    if (this.#kind === "ancestors") {
      for (let end = SEGMENT_CHARS; end < value.length; end += SEGMENT_CHARS + 1) {
        this.#addText(value.slice(end - ID_CHARS, end));
      }
    } else if (this.#kind === "text" || !this.#known.has(value)) {
      this.#addText(value);
      if (this.#kind === "repeated") this.#known.add(value);
    }
    if (this.#used >= PAGE_BYTES) this.#end(parts);
    return value.length;
  }

  endGroup(parts: Parts): void {
    if (this.#used > 0) this.#end(parts);
    this.#known.clear();
  }

  #addText(text: string): void {
    const start = this.#used + 4;
    const length = this.#page.write(text, start);
    this.#page.writeUInt32LE(length, this.#used);
    this.#used = start + length;
  }

  #end(parts: Parts): void {
    parts.add(this.#page.subarray(0, this.#used));
    this.#used = 0;
  }
}

/** Compresses pages, and computes the digests of the parts that they are sent in. */
class Parts {
  readonly #codec = openCodec("snappy");
  #digests = newDigests();
  #partBytes = 0;
  bytes = 0;

  add(page: Uint8Array): void {
    const compressed = this.#codec.compress(page);
    for (const digest of this.#digests) digest.update(compressed);
    this.bytes += compressed.length;
    this.#partBytes += compressed.length;
    if (this.#partBytes >= LIMITS.part_bytes) this.end();
  }

  end(): void {
    for (const digest of this.#digests) digest.digest();
    this.#digests = newDigests();
    this.#partBytes = 0;
  }
}

function newDigests(): Hash[] {
  return ["md5", "sha256"].map((name) => createHash(name));
}
