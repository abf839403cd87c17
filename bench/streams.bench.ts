import { Agent } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@langchain/langgraph-sdk";
import { startBareStreams } from "./support/bare-streams.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { BENCH_GRAPHS } from "./support/paths.ts";
import { residentBytes } from "./support/resident-memory.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch, type Scratch } from "./support/scratch.ts";
import { startPlatformServer } from "./support/start-platform.ts";
import { median } from "./support/statistics.ts";
import { openReader, type StreamReader } from "./support/stream-reader.ts";
import { printTable } from "./support/table.ts";
import { cpuSeconds, workerdOf } from "./support/workerd-usage.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 8 * 60_000;
const GRAPH = "writer";
/** The events come at the pace of a model's tokens. Each reader also gets the run's metadata. */
const EVENTS = { count: 40, size: 40, delay_ms: 50 };
const ROUNDS = SMALL ? 1 : 5;
const CROWD = SMALL ? 16 : 256;
const LEAVING = SMALL ? 32 : 1_000;
/** Connections that are opened at the same time. */
const OPENING = 32;
/** Time for the allocator to return memory to the system, which it does not do at once. */
const SETTLE_MS = SMALL ? 100 : 20_000;

type Bench = { url: string; client: Client; pid: number };
type Memory = { before: number; peak: number; after: number; again: number };
type Crowd = { readers: number; events: number; cpuSeconds: number; wallMs: number };

export async function run(): Promise<BenchResult> {
  return inScratch("streams", TIME_LIMIT_MS, async (scratch) => {
    const stateDir = join(scratch.path, "state");
    const configPath = join(BENCH_GRAPHS, "langgraph.json");
    const { url } = scratch.track(await startPlatformServer({ configPath, stateDir }));
    const bench = { url, client: new Client({ apiUrl: url }), pid: workerdOf(stateDir) };
    await readTogether(bench, 1);
    await readTogether(bench, CROWD);
    const before = residentBytes(bench.pid);
    const leaving = await readTogether(bench, LEAVING);
    const peak = residentBytes(bench.pid);
    await sleep(SETTLE_MS);
    const after = residentBytes(bench.pid);
    // Memory that was kept by the process but can be reused does not grow with these readers.
    await readTogether(bench, LEAVING);
    const again = residentBytes(bench.pid);
    const crowds: Crowd[] = [];
    const alone: Crowd[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await readTogether(bench, 1));
      crowds.push(await readTogether(bench, CROWD));
    }
    const bare = await bareMemory(scratch);
    return report({ alone, crowds, leaving, memory: { before, peak, after, again }, bare });
  });
}

/** Measures the same readers of a Worker that only streams: the memory that they leave is workerd's own. */
async function bareMemory(scratch: Scratch): Promise<Memory> {
  const { readTogether, pid } = scratch.track(await startBareStreams(scratch.path, EVENTS));
  await readTogether(CROWD);
  const before = residentBytes(pid());
  await readTogether(LEAVING);
  const peak = residentBytes(pid());
  await sleep(SETTLE_MS);
  const after = residentBytes(pid());
  await readTogether(LEAVING);
  return { before, peak, after, again: residentBytes(pid()) };
}

/** Opens the readers of a waiting run, lets it begin, and measures until the last reader has everything. */
async function readTogether({ url, client, pid }: Bench, count: number): Promise<Crowd> {
  const { thread_id } = await client.threads.create();
  const blocking = { input: { count: 1, delay_ms: TIME_LIMIT_MS } };
  const { run_id: blocker } = await client.runs.create(thread_id, GRAPH, blocking);
  const { run_id } = await client.runs.create(thread_id, GRAPH, {
    input: EVENTS,
    streamMode: "custom",
    multitaskStrategy: "enqueue",
  });
  const agent = new Agent({ maxSockets: Infinity });
  try {
    const readers: StreamReader[] = [];
    while (readers.length < count) {
      const next = Math.min(OPENING, count - readers.length);
      const open = () => openReader(url, { thread_id, run_id }, agent);
      readers.push(...(await Promise.all(Array.from({ length: next }, open))));
    }
    const [cpuBefore, began] = [cpuSeconds(pid), performance.now()];
    await client.runs.cancel(thread_id, blocker, true);
    const got = await Promise.all(readers.map(({ ended }) => ended));
    const wallMs = performance.now() - began;
    if (got.some((events) => events !== EVENTS.count + 1)) {
      throw new Error(`Readers got ${Math.min(...got)} to ${Math.max(...got)} events`);
    }
    const events = got.reduce((sum, each) => sum + each, 0);
    return { readers: count, events, cpuSeconds: cpuSeconds(pid) - cpuBefore, wallMs };
  } finally {
    agent.destroy();
  }
}

function report(measured: {
  alone: Crowd[];
  crowds: Crowd[];
  leaving: Crowd;
  memory: Memory;
  bare: Memory;
}): BenchResult {
  const { alone, crowds, leaving, memory, bare } = measured;
  const cpuMs = (rounds: Crowd[]): number =>
    median(rounds.map((each) => (each.cpuSeconds * 1_000) / each.events));
  const row = (rounds: Crowd[]): string[] => [
    String(rounds[0]?.readers),
    cpuMs(rounds).toFixed(3),
    median(rounds.map(({ events, wallMs }) => (events * 1_000) / wallMs)).toFixed(0),
  ];
  console.log(`\n${EVENTS.count + 1} events of a run, ${EVENTS.delay_ms} ms apart`);
  printTable(["readers", "CPU ms an event", "events/s"], [alone, crowds, [leaving]].map(row));
  const memoryRow = ({ before, peak, after, again }: Memory): string[] =>
    [before, peak, after, again].map((bytes) => (bytes / 1_000_000).toFixed(0));
  console.log(`\nresident MB of workerd around ${leaving.readers} readers`);
  printTable(
    ["", "before", "at their end", `${SETTLE_MS / 1_000} s later`, "after as many again"],
    [
      ["the platform", ...memoryRow(memory)],
      ["a bare Worker", ...memoryRow(bare)],
    ],
  );
  return reportRatios({
    cpu_per_event_256_vs_1: [cpuMs(crowds) / cpuMs(alone), "<= 0.25"],
    memory_after_vs_before: [memory.after / memory.before, "<= 1.3"],
    memory_after_vs_before_bare: [bare.after / bare.before, "what workerd keeps by itself"],
  });
}
