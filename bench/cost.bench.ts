import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { buildTarball } from "../cli/project/tarball.ts";
import { type Cost, dollarsPerMillion, perOperation, rowsBilled } from "./cost/bill.ts";
import { type CountedPlatform, startCountedPlatform } from "./cost/counted-platform.ts";
import { clientOf, firstEventMs, streamOnThread, waitOnThread } from "./cost/operations.ts";
import { NO_DELAYS, type RowsByStatement } from "./counting/counts.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { deployAgent } from "./support/deploy-agent.ts";
import { BENCH_GRAPHS } from "./support/paths.ts";
import { recordRequests } from "./support/recorded-requests.ts";
import { replay } from "./support/replay.ts";
import { eventsOfTraces } from "./support/sample-trace.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch } from "./support/scratch.ts";
import { median } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { cpuSeconds } from "./support/workerd-usage.ts";

/** Whether this is only a short run that shows that the benchmark works. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);
/** Whether to print which statements wrote the rows of each operation. */
const BY_STATEMENT = Boolean(process.env["BENCH_STATEMENTS"]);

const TIME_LIMIT_MS = 12 * 60_000;
const WARM_UPS = SMALL ? 1 : 5;
const OPERATIONS = SMALL ? 2 : 20;
const STREAMS = SMALL ? 1 : 3;
const FEW_CHUNKS = 17;
const MANY_CHUNKS = SMALL ? 50 : 500;
const CHUNK_DELAY_MS = 20;
const TRACES = SMALL ? 34 : 340;
const PROJECT = "bench-cost";

/** Long enough that delays of a busy machine do not count as a hop. */
const HOP_DELAY_MS = 400;
const HOPS_DELAYED = {
  object: HOP_DELAY_MS,
  d1: HOP_DELAY_MS,
  r2: HOP_DELAY_MS,
  queue: HOP_DELAY_MS,
};
const HOP_SAMPLES = SMALL ? 1 : 3;

type Operation = {
  title: string;
  /** Performs one operation. */
  run: () => Promise<unknown>;
  operations: number;
  /** Units in one operation, if the reported cost is that of one unit. */
  units?: number;
};

type Measured = Cost & { title: string };

/** Measures what one operation requests from Cloudflare, counted at the bindings: see `counting/worker.ts`. */
export async function run(): Promise<BenchResult> {
  return inScratch("cost", TIME_LIMIT_MS, async (scratch) => {
    const platform = scratch.track(await startCountedPlatform(join(scratch.path, "platform")));
    const client = clientOf(platform, platform.agentUrl);
    const { bytes } = await buildTarball({ configPath: BENCH_GRAPHS });
    const deployed = clientOf(platform, await deployAgent(platform, "cost", bytes, 500));
    const { runs, post } = await spans(platform);
    const stream = (count: number, resumable = false): Operation => ({
      title: `stream of ${count} chunks${resumable ? ", resumable" : ""}`,
      run: () => streamOnThread(client, { count, resumable, delayMs: CHUNK_DELAY_MS }),
      operations: STREAMS,
    });
    const measured: Measured[] = [];
    const measure = async (operation: Operation): Promise<Measured> => {
      const result = await costOf(platform, operation);
      measured.push(result);
      return result;
    };
    for (let index = 0; index < WARM_UPS; index += 1) {
      await waitOnThread(client);
      await waitOnThread(deployed);
    }
    await streamOnThread(client, { count: 1, resumable: false, delayMs: CHUNK_DELAY_MS });
    await platform.settled();
    await measure({
      title: "thread creation",
      run: () => client.threads.create(),
      operations: OPERATIONS,
    });
    const waited = await measure({
      title: "thread, runs.wait, its 5 spans",
      run: () => waitOnThread(client),
      operations: OPERATIONS,
    });
    const few = await measure(stream(FEW_CHUNKS));
    const many = await measure(stream(MANY_CHUNKS));
    const manyResumable = await measure(stream(MANY_CHUNKS, true));
    const fewResumable = await measure(stream(FEW_CHUNKS, true));
    const span = await measure({
      title: "span by multipart",
      run: post,
      operations: 1,
      units: runs,
    });
    await measure({
      title: "thread, runs.wait, deployed agent",
      run: () => waitOnThread(deployed),
      operations: OPERATIONS,
    });
    const first = await firstEventOf(platform, client);
    const firstDeployed = await firstEventOf(platform, deployed);
    print(measured);
    const perChunk = (less: Measured, more: Measured): number =>
      (rowsBilled(more) - rowsBilled(less)) / (MANY_CHUNKS - FEW_CHUNKS);
    return reportRatios({
      rows_per_agent_run: [rowsBilled(waited), "<= 40"],
      rows_per_span: [rowsBilled(span), "<= 2"],
      rows_per_streamed_chunk: [perChunk(few, many), "<= 0.1"],
      rows_per_resumable_chunk: [perChunk(fewResumable, manyResumable), "<= 0.5"],
      d1_statements_per_warm_run: [first.d1Statements, "<= 1"],
      hops_to_first_event: [first.hops, "<= 2"],
      d1_statements_per_deployed_run: [firstDeployed.d1Statements],
      hops_to_first_event_deployed: [firstDeployed.hops],
    });
  });
}

/** Recorded requests of the official tracer, each with a batch of 100 creates and updates. */
async function spans(
  platform: CountedPlatform,
): Promise<{ runs: number; post: () => Promise<unknown> }> {
  const info = await platform.request("GET", "/info");
  const requests = await recordRequests(info, (client) =>
    eventsOfTraces(
      { client, project: PROJECT, scale: 1 },
      { count: TRACES, firstStart: Date.now(), gapMs: 50 },
    ),
  );
  const url = `${platform.url}/runs/multipart`;
  return {
    runs: requests.reduce((sum, each) => sum + each.runs, 0),
    post: () => replay({ url, headers: { "x-api-key": platform.apiKey } }, requests, 1),
  };
}

/** Returns the mean cost: work that follows an answer cannot be attributed to a single operation. */
async function costOf(
  platform: CountedPlatform,
  { title, run: runOnce, operations, units = 1 }: Operation,
): Promise<Measured> {
  const before = await platform.counted();
  const cpuBefore = cpuSeconds(platform.workerdPid);
  const startedAt = performance.now();
  for (let index = 0; index < operations; index += 1) await runOnce();
  const seconds = (performance.now() - startedAt) / 1_000 / operations / units;
  const after = await platform.settled();
  const cpuMs = ((cpuSeconds(platform.workerdPid) - cpuBefore) * 1_000) / operations / units;
  if (BY_STATEMENT) printStatements(title, before.byStatement, after.byStatement, operations);
  const counts = perOperation(before.counts, after.counts, operations * units);
  return { title, ...counts, cpuMs, seconds };
}

/** Measures the first event of a run on an existing thread, in an isolate that has served a run before. */
async function firstEventOf(
  platform: CountedPlatform,
  client: Client,
): Promise<{ hops: number; d1Statements: number }> {
  const { thread_id } = await client.threads.create();
  const firstEvent = (): Promise<number> => firstEventMs(client, thread_id);
  const samples = async (): Promise<number> => {
    const times: number[] = [];
    for (let index = 0; index < HOP_SAMPLES; index += 1) times.push(await firstEvent());
    return median(times);
  };
  await firstEvent();
  const atOnce = await samples();
  const { d1StatementsBeforeFirstEvent } = await platform.counted();
  await platform.delayHops(HOPS_DELAYED);
  const delayed = await samples();
  await platform.delayHops(NO_DELAYS);
  const hops = Math.round((delayed - atOnce) / HOP_DELAY_MS);
  return { hops, d1Statements: d1StatementsBeforeFirstEvent };
}

function print(measured: Measured[]): void {
  const number = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(1));
  console.log("\nper operation, including the work after its answer:");
  printTable(
    [
      "",
      "rows",
      "of D1",
      "alarms",
      "read",
      "statements",
      "commits",
      "object calls",
      "D1 statements",
      "R2",
      "CPU ms",
      "$ a million",
    ],
    measured.map((cost) => [
      cost.title,
      ...[
        rowsBilled(cost),
        cost.d1RowsWritten,
        cost.alarmsSet,
        cost.rowsRead + cost.d1RowsRead,
        cost.statements,
        cost.commits,
        cost.objectCalls,
        cost.d1Statements,
        cost.r2Reads + cost.r2Writes,
        cost.cpuMs,
        dollarsPerMillion(cost),
      ].map(number),
    ]),
  );
  console.log();
}

function printStatements(
  title: string,
  before: RowsByStatement,
  after: RowsByStatement,
  operations: number,
): void {
  const rows = Object.entries(after)
    .map(([statement, { count, rowsWritten }]) => {
      const earlier = before[statement] ?? { count: 0, rowsWritten: 0 };
      const of = (value: number): number => value / operations;
      return {
        statement,
        count: of(count - earlier.count),
        rows: of(rowsWritten - earlier.rowsWritten),
      };
    })
    .filter(({ count }) => count > 0)
    .toSorted((left, right) => right.rows - left.rows || right.count - left.count);
  console.log(`\n${title}`);
  printTable(
    ["statement", "times", "rows"],
    rows.map(({ statement, count, rows: written }) => [
      statement,
      count.toFixed(2),
      written.toFixed(2),
    ]),
  );
}
