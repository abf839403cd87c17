import fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { describe, test } from "vitest";
import { zstdDecompressSync, gunzipSync } from "node:zlib";
import type {
  ExportCompression,
  ExportFormatVersion,
} from "../../../../src/db/bulk-export-schema.ts";
import { EXPORT_FIELDS } from "../../../../src/bulk-export/parquet/columns.ts";
import { readParquet } from "../../../support/duckdb.ts";
import type { RunValues } from "../../../support/columnar-runs.ts";
import { generatedRuns, PROJECT, WORKSPACE } from "./generated-runs.ts";
import { asFile, writeRuns } from "./written-files.ts";

const COMPRESSIONS: readonly ExportCompression[] = ["none", "gzip", "snappy", "zstandard"];
const VERSIONS: readonly ExportFormatVersion[] = ["v1", "v2_beta"];

type Row = Record<string, unknown>;

/** Returns the expected row of a run, as DuckDB reads it. */
function expectedRow(run: RunValues, version: ExportFormatVersion): Row {
  const isList = version === "v2_beta";
  const ancestors = (run.dotted_order ?? "")
    .split(".")
    .slice(0, -1)
    .map((segment) => segment.slice(22));
  const cost = (picodollars: number | null): unknown => {
    if (picodollars === null) return null;
    const digits = String(picodollars).padStart(13, "0");
    const decimal = `${digits.slice(0, -12)}.${digits.slice(-12)}`;
    return isList ? decimal : Number(decimal);
  };
  return {
    id: run.id,
    tenant_id: WORKSPACE,
    session_id: PROJECT,
    trace_id: run.trace_id,
    parent_run_id: run.parent_run_id,
    parent_run_ids: isList ? ancestors : JSON.stringify(ancestors),
    reference_example_id: run.reference_example_id,
    name: run.name,
    run_type: run.run_type,
    start_time: isoMicros(run.start_time),
    end_time: isoMicros(run.end_time),
    status: run.status,
    is_root: run.parent_run_id === null,
    dotted_order: run.dotted_order,
    trace_tier: run.trace_tier,
    inputs: run.inputs,
    outputs: run.outputs,
    error: run.error,
    extra: run.extra,
    events: run.events,
    tags: isList ? JSON.parse(run.tags ?? "") : run.tags,
    feedback_stats: run.feedback_stats,
    total_tokens: run.total_tokens,
    prompt_tokens: run.prompt_tokens,
    completion_tokens: run.completion_tokens,
    total_cost: cost(run.total_cost),
    prompt_cost: cost(run.prompt_cost),
    completion_cost: cost(run.completion_cost),
    first_token_time: isoMicros(run.first_token_time),
  };
}

function isoMicros(micros: number | null): string | null {
  if (micros === null) return null;
  const millis = Math.floor(micros / 1000);
  const rest = String(micros - millis * 1000).padStart(3, "0");
  return new Date(millis).toISOString().replace("Z", `${rest}Z`);
}

/** Reads the rows with hyparquet, which parses JSON and is less exact for times and decimals. */
async function readByHyparquet(bytes: Uint8Array): Promise<Row[]> {
  const file = new Uint8Array(bytes).buffer;
  return parquetReadObjects({
    file,
    compressors: {
      GZIP: (input) => gunzipSync(input),
      ZSTD: (input) => zstdDecompressSync(input),
    },
  });
}

const runs = generatedRuns({ minLength: 1, maxLength: 60 });
const files = fc.record({
  runs,
  rows_per_group: fc.constantFrom(1, 7, 1000),
  bytes_per_group: fc.constantFrom(1, 2000, 1_000_000),
  batch: fc.constantFrom(1, 5, 100),
  part_bytes: fc.constantFrom(100, 4096, 1_000_000),
});

describe.for(VERSIONS.flatMap((version) => COMPRESSIONS.map((codec) => [version, codec] as const)))(
  "a file of %s with compression %s",
  ([version, compression]) => {
    test("has the written runs for two readers", async ({ expect }) => {
      const property = fc.asyncProperty(files, async ({ runs: given, batch, ...limits }) => {
        const { file, parts, written } = await writeRuns(given, {
          version,
          compression,
          batch,
          limits,
        });
        expect(written?.rows).toBe(given.length);
        expect(written?.bytes).toBe(file.length);
        expect(parts.slice(0, -1).every(({ length }) => length === limits.part_bytes)).toBe(true);
        const expected = given.map((run) => expectedRow(run, version));
        const read = await asFile(file, (path) =>
          readParquet(path, {
            orderBy: "file_row_number",
          }),
        );
        // DuckDB adds this column when it sorts by row number.
        expect(read.map(({ filename: _filename, ...row }) => row)).toEqual(expected);
        const seen = await readByHyparquet(file);
        expect(seen.map((row) => Object.keys(row))).toEqual(seen.map(() => EXPORT_FIELDS));
        for (const [index, row] of seen.entries()) {
          const { id, name, error, tags, parent_run_ids, total_tokens, inputs } =
            expected[index] ?? {};
          expect(row).toMatchObject({
            id,
            name,
            error,
            tags,
            parent_run_ids,
            total_tokens: BigInt(Number(total_tokens)),
          });
          const isJson = version === "v2_beta";
          expect(row["inputs"]).toEqual(isJson ? JSON.parse(String(inputs)) : inputs);
        }
      });
      await fc.assert(property, { numRuns: 8, seed: 7 });
    });
  },
);
