import type { BenchResult } from "./bench-result.ts";
import type { LeastExport } from "./least-export.ts";
import { reportRatios } from "./report-ratios.ts";
import type { MemoryGrowth } from "./resident-memory.ts";
import { median } from "./statistics.ts";
import { printTable } from "./table.ts";

export const CODECS = [
  { compression: "snappy", duckDb: "snappy" },
  { compression: "gzip", duckDb: "gzip" },
  { compression: "zstandard", duckDb: "zstd" },
  { compression: "none", duckDb: "uncompressed" },
] as const;
export const SIZES = ["100k", "1m"] as const;

export type Size = (typeof SIZES)[number];
export type Codec = (typeof CODECS)[number]["compression"];
/** Wall-clock time, and CPU time of the process that does the work, in milliseconds. */
export type Elapsed = { ms: number; cpuMs: number };

type Copy = { platform: Elapsed[]; duckDb: Elapsed[]; bytes: number };
/** The turns of all sides, in the order of the rounds. The least compresses with snappy only. */
export type Copies = { codecs: Record<Codec, Copy>; least: LeastExport[] };
export type Growing = Record<Size, { msPerRow: number; memory: MemoryGrowth }>;

/** Prints the comparison of `rows` rows and the growth with size. Returns their ratios. */
export function reportExports(
  rows: number,
  { codecs, least }: Copies,
  growing: Growing,
): BenchResult {
  const ratioOf = ({ platform, duckDb }: Copy): number =>
    median(platform.map(({ ms }, round) => (duckDb[round]?.ms ?? 0) / ms));
  const cpuOf = (elapsed: Elapsed[]): number => median(elapsed.map(({ cpuMs }) => cpuMs));
  const { snappy } = codecs;
  const ratioToLeast = (of: Elapsed[]): number =>
    median(of.map(({ ms }, round) => ms / (least[round]?.ms ?? NaN)));
  const cpuRatioOf = ({ platform, duckDb }: Copy): number => cpuOf(duckDb) / cpuOf(platform);
  console.log(`\n${rows} runs, from the store to finished objects`);
  printTable(
    ["", "rows/s", "DuckDB rows/s", "ratio", "CPU µs a row", "DuckDB's", "bytes a row"],
    CODECS.map(({ compression }) => {
      const copy = codecs[compression];
      const perSecond = (elapsed: Elapsed[]): string =>
        ((rows / median(elapsed.map(({ ms }) => ms))) * 1000).toFixed(0);
      const microseconds = (elapsed: Elapsed[]): string =>
        ((cpuOf(elapsed) / rows) * 1000).toFixed(1);
      return [
        compression,
        perSecond(copy.platform),
        perSecond(copy.duckDb),
        ratioOf(copy).toFixed(2),
        microseconds(copy.platform),
        microseconds(copy.duckDb),
        (copy.bytes / rows).toFixed(0),
      ];
    }),
  );
  console.log("\nsnappy, the least that an export of a shard must do");
  printTable(
    ["", "rows/s", "CPU µs a row", "bytes a row"],
    [
      [
        "least",
        ((rows / median(least.map(({ ms }) => ms))) * 1000).toFixed(0),
        ((cpuOf(least) / rows) * 1000).toFixed(1),
        (median(least.map(({ bytes }) => bytes)) / rows).toFixed(0),
      ],
    ],
  );
  console.log("\nsnappy, smaller runs");
  printTable(
    ["", "rows/s", "MB before", "MB at most", "MB growth"],
    SIZES.map((size) => {
      const { msPerRow, memory } = growing[size];
      const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
      const { before, peak } = memory;
      return [
        size,
        (1000 / msPerRow).toFixed(0),
        megabytes(before),
        megabytes(peak),
        megabytes(peak - before),
      ];
    }),
  );
  const growth = ({ memory }: Growing[Size]): number => memory.peak - memory.before;
  return reportRatios({
    snappy_vs_duckdb: [ratioOf(codecs.snappy), ">= 0.6"],
    gzip_vs_duckdb: [ratioOf(codecs.gzip), ">= 2"],
    snappy_cpu_vs_duckdb: [cpuRatioOf(codecs.snappy), "the same of CPU time, on a busy machine"],
    gzip_cpu_vs_duckdb: [cpuRatioOf(codecs.gzip), "the same"],
    least_snappy_vs_duckdb: [ratioToLeast(snappy.duckDb), "what an export of a shard could reach"],
    least_snappy_cpu_vs_duckdb: [cpuOf(snappy.duckDb) / cpuOf(least), "the same of CPU time"],
    snappy_vs_least: [1 / ratioToLeast(snappy.platform)],
    time_per_row_1m_vs_100k: [growing["1m"].msPerRow / growing["100k"].msPerRow, "<= 1.15"],
    memory_1m_vs_100k: [growth(growing["1m"]) / growth(growing["100k"]), "<= 1.2"],
  });
}
