import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { BenchResult } from "./support/bench-result.ts";
import { type DiscardBucket, startDiscardBucket } from "./support/discard-bucket.ts";
import { DuckDbTable } from "./support/duckdb-copy.ts";
import {
  CODECS,
  type Codec,
  type Copies,
  type Elapsed,
  type Growing,
  reportExports,
  type Size,
  SIZES,
} from "./support/export-report.ts";
import { type LeastExport, leastExport } from "./support/least-export.ts";
import { multiplyShard, shardFileOf } from "./support/multiply-shard.ts";
import { watchMemory } from "./support/resident-memory.ts";
import {
  COMMON_NAME,
  eventsOfTraces,
  RARE_CUSTOMER,
  RARE_NAME,
  RUNS_PER_TRACE,
} from "./support/sample-trace.ts";
import { inScratch, type Scratch } from "./support/scratch.ts";
import { manualClient, sendEvents } from "./support/send-events.ts";
import { median } from "./support/statistics.ts";
import { startTracingPlatform, type TracingPlatform } from "./support/tracing-platform.ts";
import { cpuSeconds } from "./support/workerd-usage.ts";
import { secondsSince } from "./support/timing.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 20 * 60_000;
const DAY_MS = 86_400_000;
const CONCURRENT_REQUESTS = 4;
/** Each poll takes some milliseconds of the thread that exports. */
const POLL_MS = 100;

/** All of these are sent to the API, because copied texts would compress better than real ones do. */
const DISTINCT_TRACES = SMALL ? 300 : 20_000;
const DISTINCT_GAP_MS = 1000;
const ROUNDS = SMALL ? 1 : 4;

/** These projects consist of copies, one after the other, of the traces that are sent to the API. */
const COPIED_TRACES = SMALL ? 300 : 3_334;
const COPIED_GAP_MS = 50;
const COPIED_SCALE = 0.3;
const TIMES: Record<Size, number> = { "100k": SMALL ? 2 : 10, "1m": SMALL ? 20 : 100 };
const TIMED_ROUNDS: Record<Size, number> = { "100k": SMALL ? 1 : 5, "1m": 1 };

type Bench = { platform: TracingPlatform; bucket: DiscardBucket; destination: string };
type Exported = Elapsed & { id: string };

export async function run(): Promise<BenchResult> {
  return inScratch("export", TIME_LIMIT_MS, async (scratch) => {
    const bucket = scratch.track(await startDiscardBucket());
    const stateDir = join(scratch.path, "platform");
    const project = await withPlatform(scratch, stateDir, bucket, ({ platform }) =>
      ingest(platform, "bench-distinct", {
        count: DISTINCT_TRACES,
        gapMs: DISTINCT_GAP_MS,
        scale: 1,
      }),
    );
    // A copy, because the platform has the file open while it exports.
    const shard = join(scratch.path, "shard.sqlite");
    await copyFile(shardFileOf(stateDir, project), shard);
    const copies = await withPlatform(scratch, stateDir, bucket, (bench) =>
      compare(scratch, bench, { project, shard }),
    );
    const projects = await withPlatform(scratch, stateDir, bucket, async ({ platform }) => {
      const found = new Map<Size, string>();
      for (const size of SIZES) found.set(size, await ingestCopied(platform, size));
      return found;
    });
    for (const [size, project] of projects) multiply(stateDir, size, project);
    const growing: Partial<Growing> = {};
    for (const [size, project] of projects) {
      growing[size] = await withPlatform(scratch, stateDir, bucket, (bench) =>
        measureSize(bench, size, project),
      );
    }
    return reportExports(DISTINCT_TRACES * RUNS_PER_TRACE, copies, growing as Growing);
  });
}

async function withPlatform<T>(
  scratch: Scratch,
  stateDir: string,
  bucket: DiscardBucket,
  use: (bench: Bench) => Promise<T>,
): Promise<T> {
  const platform = scratch.track(await startTracingPlatform(stateDir));
  const { id } = (await platform.request("POST", "/bulk-exports/destinations", {
    destination_type: "s3",
    display_name: "bench",
    config: { bucket_name: bucket.bucket, prefix: "exports", endpoint_url: bucket.url },
    credentials: { access_key_id: "bench", secret_access_key: "bench" },
  })) as { id: string };
  const result = await use({ platform, bucket, destination: id });
  await platform.stop();
  return result;
}

/** All sides take the same rows, in turns, so that a noisy moment of the machine affects all of them. */
async function compare(
  scratch: Scratch,
  bench: Bench,
  { project, shard }: { project: string; shard: string },
): Promise<Copies> {
  const { bucket } = bench;
  const rows = DISTINCT_TRACES * RUNS_PER_TRACE;
  const kept = join(scratch.path, "kept");
  bucket.keepIn(kept);
  await exportProject(bench, project, "none", rows);
  bucket.keepIn(null);
  const duckDb = scratch.track(await DuckDbTable.of(`${kept}/**/*.parquet`));
  if (duckDb.rows !== rows) throw new Error(`DuckDB reads ${duckDb.rows} rows, not ${rows}`);
  const codecs = Object.fromEntries(
    CODECS.map(({ compression }) => [compression, { platform: [], duckDb: [], bytes: 0 }]),
  ) as unknown as Copies["codecs"];
  const least: LeastExport[] = [];
  // The first round is a warm-up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const codec of CODECS) {
      const { id, ...elapsed } = await exportProject(bench, project, codec.compression, rows);
      const peer = await duckDb.copyTo(join(scratch.path, "peer.parquet"), codec.duckDb);
      const into = codecs[codec.compression];
      const leastOfTurn = codec.compression === "snappy" ? [leastExport(shard)] : [];
      if (round === 0) continue;
      least.push(...leastOfTurn);
      into.platform.push(elapsed);
      into.duckDb.push(peer);
      into.bytes = bucket.bytesUnder(`exports/export_id=${id}/`);
    }
  }
  await duckDb.stop();
  for (const [codec, { platform: ours, duckDb: peers }] of Object.entries(codecs)) {
    console.log(`${codec}: ${milliseconds(ours)} against ${milliseconds(peers)} ms`);
  }
  console.log(`least, snappy: ${milliseconds(least)} ms`);
  if (least.some((each) => each.rows !== rows)) throw new Error("The least lacks rows");
  return { codecs, least };
}

async function ingestCopied(platform: TracingPlatform, size: Size): Promise<string> {
  return ingest(platform, `bench-${size}`, {
    count: COPIED_TRACES,
    gapMs: COPIED_GAP_MS,
    scale: COPIED_SCALE,
  });
}

async function ingest(
  platform: TracingPlatform,
  project: string,
  { scale, ...traces }: { count: number; gapMs: number; scale: number },
): Promise<string> {
  const startedAt = performance.now();
  const client = manualClient(platform.url, platform.apiKey);
  const events = eventsOfTraces({ client, project, scale }, { ...traces, firstStart: yesterday() });
  await sendEvents(client, events, CONCURRENT_REQUESTS);
  const runs = traces.count * RUNS_PER_TRACE;
  console.log(`${project}: ${runs} runs sent in ${secondsSince(startedAt)}`);
  return platform.projectId(project);
}

function multiply(stateDir: string, size: Size, project: string): void {
  const startedAt = performance.now();
  const times = TIMES[size];
  multiplyShard(shardFileOf(stateDir, project), {
    times,
    gapMs: COPIED_TRACES * COPIED_GAP_MS * times,
    rare: {
      name: RARE_NAME,
      commonName: COMMON_NAME,
      metadata: { key: "customer", value: RARE_CUSTOMER },
    },
  });
  console.log(`bench-${size}: ${runsOf(size)} runs made in ${secondsSince(startedAt)}`);
}

function runsOf(size: Size): number {
  return COPIED_TRACES * RUNS_PER_TRACE * TIMES[size];
}

/**
 * Measures exports of one size. Memory is compared with what the process used before the first one. There are several
 * exports, as the process grows until garbage collection has found its pace.
 */
async function measureSize(bench: Bench, size: Size, project: string): Promise<Growing[Size]> {
  const rows = runsOf(size);
  const times: number[] = [];
  const memory = await watchMemory(bench.platform.workerdPid, async () => {
    // The first round is a warm-up.
    for (let round = 0; round <= TIMED_ROUNDS[size]; round += 1) {
      const { ms } = await exportProject(bench, project, "snappy", rows);
      if (round > 0) times.push(ms);
    }
  });
  return { msPerRow: median(times) / rows, memory };
}

/** Measures from the request until the export is complete. Throws when rows are missing. */
async function exportProject(
  { platform, destination }: Bench,
  project: string,
  compression: Codec,
  rows: number,
): Promise<Exported> {
  const day = yesterday();
  const startedAt = performance.now();
  const cpuBefore = cpuSeconds(platform.workerdPid);
  const { id } = (await platform.request("POST", "/bulk-exports", {
    bulk_export_destination_id: destination,
    session_id: project,
    start_time: new Date(day).toISOString(),
    end_time: new Date(day + DAY_MS).toISOString(),
    compression,
  })) as { id: string };
  let status: string;
  do {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    ({ status } = (await platform.request("GET", `/bulk-exports/${id}`)) as { status: string });
  } while (status === "CREATED" || status === "RUNNING");
  const ms = performance.now() - startedAt;
  const cpuMs = (cpuSeconds(platform.workerdPid) - cpuBefore) * 1000;
  const runs = (await platform.request("GET", `/bulk-exports/${id}/runs`)) as {
    metadata: { result: { rows_written: number } };
  }[];
  const written = runs.reduce((sum, { metadata }) => sum + metadata.result.rows_written, 0);
  if (status !== "COMPLETED" || written !== rows) {
    throw new Error(`export ${status} with ${written} of ${rows} rows: ${JSON.stringify(runs)}`);
  }
  return { id, ms, cpuMs };
}

function yesterday(): number {
  return Math.floor(Date.now() / DAY_MS - 1) * DAY_MS;
}

function milliseconds(elapsed: readonly Elapsed[]): string {
  return elapsed.map(({ ms }) => ms.toFixed(0)).join(" ");
}
