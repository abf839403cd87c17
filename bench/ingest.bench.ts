import { join } from "node:path";
import type { BenchResult } from "./support/bench-result.ts";
import { postStream } from "./support/multipart-stream.ts";
import { type RecordedRequest, recordRequests } from "./support/recorded-requests.ts";
import { replay } from "./support/replay.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { type MemoryGrowth, watchMemory } from "./support/resident-memory.ts";
import { eventsOfTraces } from "./support/sample-trace.ts";
import { inScratch, type Scratch } from "./support/scratch.ts";
import { OPERATIONS_PER_REQUEST } from "./support/send-events.ts";
import { startBoundServer } from "./support/start-bound.ts";
import { median } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { startTracingPlatform, type TracingPlatform } from "./support/tracing-platform.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 6 * 60_000;
const CONCURRENCY = 4;
const WARM_UP_ROUNDS = SMALL ? 1 : 4;
const ROUNDS = SMALL ? 2 : 10;
const REQUESTS_PER_ROUND = SMALL ? 6 : 20;
/** The load of an application that starts 20 traces a second, each of which takes some seconds. */
const TRACE_GAP_MS = 50;
const OPERATIONS_PER_TRACE = 6;
const PROJECT = "bench";

const MEGABYTE = 1_000_000;
const BYTES_PER_RUN = 20_000;
const STREAM_MEGABYTES = SMALL ? { small: 2, large: 10 } : { small: 20, large: 100 };
/** Small streams that are sent first, until the process has reached its working size. */
const STREAM_WARM_UPS = SMALL ? 1 : 5;
const STREAM_ROUNDS = SMALL ? 1 : 3;

type Side = "platform" | "discard" | "kept";
type Replayed = Record<Side, number[]> & { runs: number[]; bytes: number[] };

type StreamSample = MemoryGrowth & { megabytes: number; seconds: number };
type Streams = Record<"small" | "large", StreamSample[]>;

export async function run(): Promise<BenchResult> {
  return inScratch("ingest", TIME_LIMIT_MS, async (scratch) => {
    const replayed = reportReplay(await measureReplay(scratch));
    const streams: Streams = { small: [], large: [] };
    for (let round = 0; round < STREAM_ROUNDS; round += 1) {
      await measureStreams(scratch, round, streams);
    }
    return reportRatios({
      multipart_vs_discard: [replayed.platform, ">= 0.6"],
      one_row_vs_discard: [replayed.kept, "what any store could reach"],
      memory_100mb_vs_20mb: [reportStreams(streams), "about 1, or a growth of few MB"],
    });
  });
}

/** All sides get the same bytes, in turns, so that a noisy moment of the machine affects all. */
async function measureReplay(scratch: Scratch): Promise<Replayed> {
  const platform = scratch.track(await startTracingPlatform(join(scratch.path, "platform")));
  const discard = scratch.track(await startBoundServer("discard", join(scratch.path, "discard")));
  const rounds = await recordRounds(platform);
  const sides = {
    platform: { url: `${platform.url}/runs/multipart`, headers: { "x-api-key": platform.apiKey } },
    discard: { url: discard.url, headers: {} },
    kept: { url: `${discard.url}/kept`, headers: {} },
  };
  const replayed: Replayed = { platform: [], discard: [], kept: [], runs: [], bytes: [] };
  for (const [number, requests] of rounds.entries()) {
    const order = ["platform", "discard", "kept"] as const;
    for (const side of number % 2 === 0 ? order : order.toReversed()) {
      const elapsedMs = await replay(sides[side], requests, CONCURRENCY);
      if (number >= WARM_UP_ROUNDS) replayed[side].push(elapsedMs);
    }
    if (number < WARM_UP_ROUNDS) continue;
    replayed.runs.push(sumOf(requests, ({ runs }) => runs));
    replayed.bytes.push(sumOf(requests, ({ body }) => body.byteLength));
  }
  await checkStored(
    platform,
    sumOf(rounds.flat(), ({ runs }) => runs),
  );
  await Promise.all([platform.stop(), discard.stop()]);
  return replayed;
}

async function recordRounds(platform: TracingPlatform): Promise<RecordedRequest[][]> {
  const rounds = WARM_UP_ROUNDS + ROUNDS;
  const operations = rounds * REQUESTS_PER_ROUND * OPERATIONS_PER_REQUEST;
  const count = operations / OPERATIONS_PER_TRACE;
  const info = await platform.request("GET", "/info");
  const requests = await recordRequests(info, (client) =>
    eventsOfTraces(
      { client, project: PROJECT, scale: 1 },
      {
        count: Math.floor(count),
        firstStart: Date.now() - count * TRACE_GAP_MS,
        gapMs: TRACE_GAP_MS,
      },
    ),
  );
  return Array.from({ length: rounds }, (_, round) =>
    requests.slice(round * REQUESTS_PER_ROUND, (round + 1) * REQUESTS_PER_ROUND),
  );
}

/** Measures streams in a new process for each round, in alternating order: the first stream finds a smaller process. */
async function measureStreams(scratch: Scratch, round: number, streams: Streams): Promise<void> {
  const platform = scratch.track(await startTracingPlatform(join(scratch.path, `stream-${round}`)));
  const target = {
    url: `${platform.url}/runs/multipart`,
    headers: { "x-api-key": platform.apiKey },
  };
  let posted = 0;
  const post = (megabytes: number): Promise<number> => {
    const runs = (megabytes * MEGABYTE) / BYTES_PER_RUN;
    posted += runs;
    return postStream(target, { project: PROJECT, runs, bytesPerRun: BYTES_PER_RUN });
  };
  for (let count = 0; count < STREAM_WARM_UPS; count += 1) await post(STREAM_MEGABYTES.small);
  const sizes = ["small", "large"] as const;
  for (const size of round % 2 === 0 ? sizes : sizes.toReversed()) {
    const startedAt = performance.now();
    let bytes = 0;
    const growth = await watchMemory(platform.workerdPid, async () => {
      bytes = await post(STREAM_MEGABYTES[size]);
    });
    const seconds = (performance.now() - startedAt) / 1000;
    streams[size].push({ ...growth, megabytes: bytes / MEGABYTE, seconds });
  }
  await checkStored(platform, posted);
  await platform.stop();
}

/** Checks that all runs are stored and ended: a platform that loses some may not be called fast. */
async function checkStored(platform: TracingPlatform, posted: number): Promise<void> {
  const project = await platform.projectId(PROJECT);
  const stored = await platform.countRuns(project);
  if (stored !== posted) throw new Error(`${posted} runs were posted, ${stored} are stored`);
  const body = { session: [project], filter: 'eq(status, "pending")', limit: 1 };
  const { runs } = (await platform.request("POST", "/runs/query", body)) as { runs: unknown[] };
  if (runs.length > 0) throw new Error("Runs that were updated are still pending");
}

/** Prints all sides. Returns the runs per second of the two that store, as shares of the side that only parses. */
function reportReplay({ runs, bytes, platform, discard, kept }: Replayed) {
  const row = (title: string, elapsed: readonly number[]): string[] => {
    const perSecond = (amounts: readonly number[]): number =>
      median(elapsed.map((ms, round) => ((amounts[round] ?? 0) / ms) * 1000));
    return [
      title,
      perSecond(runs).toFixed(0),
      (perSecond(bytes) / MEGABYTE).toFixed(2),
      median(elapsed.map((ms) => (ms * CONCURRENCY) / REQUESTS_PER_ROUND)).toFixed(1),
    ];
  };
  const shareOf = (side: number[]): number =>
    median(side.map((ms, round) => (discard[round] ?? 0) / ms));
  console.log(
    `\nrequests of the official client, ${CONCURRENCY} at a time, ` +
      `${(median(runs) / REQUESTS_PER_ROUND).toFixed(0)} runs and ` +
      `${(median(bytes) / REQUESTS_PER_ROUND / 1000).toFixed(0)} kB each as they are sent`,
  );
  printTable(
    ["", "runs/s", "MB/s", "ms per request"],
    [
      row("platform: parsed and stored", platform),
      row("parsed, and kept in one row a request", kept),
      row("parsed and dropped", discard),
    ],
  );
  return { platform: shareOf(platform), kept: shareOf(kept) };
}

/** Prints both sizes, and returns how many times as much memory the large stream takes. */
function reportStreams({ small, large }: Streams): number {
  console.log(`\none stream of runs of ${BYTES_PER_RUN / 1000} kB`);
  printTable(
    ["", "MB/s", "MB before", "MB at most", "MB growth"],
    [streamRow(small), streamRow(large)],
  );
  return growthOf(large) / growthOf(small);
}

function streamRow(samples: readonly StreamSample[]): string[] {
  const inMegabytes = (value: (sample: StreamSample) => number): string =>
    (median(samples.map(value)) / MEGABYTE).toFixed(1);
  return [
    `${median(samples.map(({ megabytes }) => megabytes)).toFixed(0)} MB`,
    median(samples.map(({ megabytes, seconds }) => megabytes / seconds)).toFixed(1),
    inMegabytes(({ before }) => before),
    inMegabytes(({ peak }) => peak),
    inMegabytes(({ before, peak }) => peak - before),
  ];
}

/**
 * Returns the growth in bytes. Less than a megabyte counts as a megabyte: it is noise, and must not
 * become a divisor.
 */
function growthOf(samples: readonly StreamSample[]): number {
  return Math.max(MEGABYTE, median(samples.map(({ before, peak }) => peak - before)));
}

function sumOf<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0);
}
