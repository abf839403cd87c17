import { join } from "node:path";
import type { BenchResult } from "./support/bench-result.ts";
import { searchWithDuckDb } from "./support/duckdb-search.ts";
import { multiplyShard, shardFileOf } from "./support/multiply-shard.ts";
import { type QueryCase, queryCases, SEARCH } from "./support/query-cases.ts";
import { reportRatios } from "./support/report-ratios.ts";
import {
  COMMON_NAME,
  eventsOfTraces,
  RARE_CUSTOMER,
  RARE_NAME,
  RUNS_PER_TRACE,
} from "./support/sample-trace.ts";
import { inScratch } from "./support/scratch.ts";
import { manualClient, sendEvents } from "./support/send-events.ts";
import { median, p95 } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { startTracingPlatform, type TracingPlatform } from "./support/tracing-platform.ts";
import { secondsSince } from "./support/timing.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 8 * 60_000;
const DAY_MS = 86_400_000;
/** Traces that are sent to the API for each project. The larger projects are then made of copies of them. */
const TRACES = SMALL ? 500 : 3_334;
const SIZES = ["10k", "100k", "1m"] as const;
const TIMES: Record<Size, number> = { "10k": 1, "100k": SMALL ? 2 : 10, "1m": SMALL ? 10 : 100 };
/** Smaller payloads than usual, so that copying is faster: a page reads the same amount in projects of all sizes. */
const PAYLOAD_SCALE = 0.3;
const CONCURRENT_REQUESTS = 4;
/** The gap is such that the last trace ends on the same day. */
const GAP_MS = Math.floor((DAY_MS - 60_000) / TRACES);
const PAGE_LIMIT = 100;
const WARM_UP_ROUNDS = 2;
const ROUNDS = SMALL ? 3 : 25;
/** Without an index, a page may take seconds. */
const ROUNDS_WITHOUT_INDEX = SMALL ? 1 : 2;

type Size = (typeof SIZES)[number];
type Project = { size: Size; id: string };

/** Durations in milliseconds. */
type Samples = Record<Size, number[]>;

export async function run(): Promise<BenchResult> {
  return inScratch("query", TIME_LIMIT_MS, async (scratch) => {
    const stateDir = join(scratch.path, "platform");
    const empty = scratch.track(await startTracingPlatform(stateDir));
    const projects: Project[] = [];
    for (const size of SIZES) projects.push({ size, id: await ingestProject(empty, size) });
    await empty.stop();
    const [smallest] = projects;
    if (smallest === undefined) throw new Error("there is no project");
    const duckDb = await searchWithDuckDb(shardFileOf(stateDir, smallest.id), {
      word: RARE_NAME,
      times: TIMES["1m"],
      rounds: ROUNDS_WITHOUT_INDEX + 1,
    });
    for (const { size, id } of projects) multiply(stateDir, size, id);
    const platform = scratch.track(await startTracingPlatform(stateDir));
    for (const project of projects) await checkCount(platform, project);
    return report(await measure(platform, projects), median(duckDb));
  });
}

async function ingestProject(platform: TracingPlatform, size: Size): Promise<string> {
  const startedAt = performance.now();
  const client = manualClient(platform.url, platform.apiKey);
  const project = `bench-${size}`;
  const yesterday = Math.floor(Date.now() / DAY_MS - 1) * DAY_MS;
  const events = eventsOfTraces(
    { client, project, scale: PAYLOAD_SCALE },
    { count: TRACES, firstStart: yesterday, gapMs: GAP_MS },
  );
  await sendEvents(client, events, CONCURRENT_REQUESTS);
  console.log(`${project}: ${TRACES * RUNS_PER_TRACE} runs sent in ${secondsSince(startedAt)}`);
  return platform.projectId(project);
}

function multiply(stateDir: string, size: Size, projectId: string): void {
  const startedAt = performance.now();
  multiplyShard(shardFileOf(stateDir, projectId), {
    times: TIMES[size],
    gapMs: GAP_MS,
    rare: {
      name: RARE_NAME,
      commonName: COMMON_NAME,
      metadata: { key: "customer", value: RARE_CUSTOMER },
    },
  });
  console.log(`bench-${size}: ${runsOf(size)} runs made in ${secondsSince(startedAt)}`);
}

async function checkCount(platform: TracingPlatform, { size, id }: Project): Promise<void> {
  const found = await platform.countRuns(id);
  if (found !== runsOf(size)) throw new Error(`${runsOf(size)} runs were made, ${found} are found`);
}

function runsOf(size: Size): number {
  return TRACES * RUNS_PER_TRACE * TIMES[size];
}

/** The projects take turns within every round, so that a noisy moment of the machine affects all of them. */
async function measure(
  platform: TracingPlatform,
  projects: readonly Project[],
): Promise<Map<QueryCase, Samples>> {
  const measured = new Map<QueryCase, Samples>();
  for (const question of queryCases(TRACES)) {
    const samples: Samples = { "10k": [], "100k": [], "1m": [] };
    measured.set(question, samples);
    const rounds = question.indexed ? ROUNDS : ROUNDS_WITHOUT_INDEX;
    const warmUp = question.indexed ? WARM_UP_ROUNDS : 0;
    for (let round = -warmUp; round < rounds; round += 1) {
      const first = Math.max(round, 0) % projects.length;
      for (const project of [...projects.slice(first), ...projects.slice(0, first)]) {
        const elapsedMs = await readPage(platform, project, question);
        if (round >= 0) samples[project.size].push(elapsedMs);
      }
    }
  }
  return measured;
}

async function readPage(
  platform: TracingPlatform,
  { id, size }: Project,
  { title, body, matching, copied }: QueryCase,
): Promise<number> {
  const expected = Math.min(PAGE_LIMIT, copied ? matching * TIMES[size] : matching);
  const startedAt = performance.now();
  const page = (await platform.request("POST", "/runs/query", {
    session: [id],
    limit: PAGE_LIMIT,
    ...body,
  })) as { runs: unknown[] };
  const elapsedMs = performance.now() - startedAt;
  if (page.runs.length !== expected) {
    throw new Error(`${title}, ${size}: ${page.runs.length} runs on the page, not ${expected}`);
  }
  return elapsedMs;
}

function report(measured: ReadonlyMap<QueryCase, Samples>, duckDbMs: number): BenchResult {
  const slowdown = (samples: Samples): number => median(samples["1m"]) / median(samples["10k"]);
  console.log(`\npages of ${PAGE_LIMIT} runs or fewer, in ms`);
  const row = ({ title, indexed }: QueryCase, samples: Samples): string[] => {
    const times = SIZES.flatMap((size) => [median(samples[size]), p95(samples[size])]);
    const ratio = slowdown(samples).toFixed(2);
    return [title, indexed ? "yes" : "no", ...times.map((time) => time.toFixed(1)), ratio];
  };
  printTable(
    ["", "index", ...SIZES.flatMap((size) => [size, "p95"]), "1m / 10k"],
    Array.from(measured, ([question, samples]) => row(question, samples)),
  );
  const worst = [...measured]
    .filter(([{ indexed }]) => indexed)
    .map(([{ title }, samples]) => ({ title, slowdown: slowdown(samples) }))
    .reduce((left, right) => (left.slowdown > right.slowdown ? left : right));
  const search = [...measured].find(([{ title }]) => title === SEARCH);
  const searchMs = median(search?.[1]["1m"] ?? []);
  console.log(
    `\nthe search over 1m runs: ${searchMs.toFixed(0)} ms; ` +
      `DuckDB, one thread, the same texts in memory: ${duckDbMs.toFixed(0)} ms`,
  );
  return reportRatios({
    filter_1m_vs_10k: [worst.slowdown, `<= 3 (${worst.title})`],
    search_1m_vs_duckdb: [searchMs / duckDbMs, "<= 5"],
  });
}
