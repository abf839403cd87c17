import { Agent } from "node:http";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import type { BenchResult } from "./support/bench-result.ts";
import { type EventReader, openSse, openWebSocket } from "./support/event-reader.ts";
import { BENCH_GRAPHS } from "./support/paths.ts";
import { inScratch } from "./support/scratch.ts";
import { startPlatformServer } from "./support/start-platform.ts";
import { median, roundTo } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { cpuSeconds, workerdOf } from "./support/workerd-usage.ts";

/** Set: a short run that shows that the benchmark works, and measures nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 8 * 60_000;
/** As fast as the graph writes them. */
const EVENTS = { count: SMALL ? 50 : 1_000, size: 40 };
const ROUNDS = SMALL ? 1 : 7;
const CROWD = SMALL ? 8 : 100;
/** Connections that are opened at once. */
const OPENING = 10;

type Bench = { url: string; client: Client; pid: number };
type Round = { readers: number; events: number; cpuSeconds: number; wallMs: number };

/** One reader of a thread's events, and many, in turns: half of the many by WebSockets, the one by each in turn. */
export async function run(): Promise<BenchResult> {
  return inScratch("fanout", TIME_LIMIT_MS, async (scratch) => {
    const stateDir = join(scratch.path, "state");
    const configPath = join(BENCH_GRAPHS, "langgraph.json");
    const { url } = scratch.track(await startPlatformServer({ configPath, stateDir }));
    const bench = { url, client: new Client({ apiUrl: url }), pid: workerdOf(stateDir) };
    for (const first of [0, 1]) await readTogether(bench, 1, first);
    await readTogether(bench, CROWD, 0);
    const [alone, crowds]: [Round[], Round[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const first of [0, 1]) alone.push(await readTogether(bench, 1, first));
      crowds.push(await readTogether(bench, CROWD, 0));
    }
    return report(alone, crowds);
  });
}

/** Opens so many readers of a thread, lets a run begin, and measures until the last one has all. */
async function readTogether(bench: Bench, count: number, first: number): Promise<Round> {
  const { url, client, pid } = bench;
  const { thread_id } = await client.threads.create();
  const agent = new Agent({ maxSockets: Infinity });
  const readers: EventReader[] = [];
  try {
    const open = (index: number): Promise<EventReader> => {
      const openOne = (first + index) % 2 === 0 ? openSse : openWebSocket;
      return openOne(url, thread_id, { count: EVENTS.count, agent });
    };
    while (readers.length < count) {
      const next = Math.min(OPENING, count - readers.length);
      const opened = Array.from({ length: next }, (_, index) => open(readers.length + index));
      readers.push(...(await Promise.all(opened)));
    }
    const [cpuBefore, began] = [cpuSeconds(pid), performance.now()];
    await client.runs.create(thread_id, "writer", { input: EVENTS, streamMode: "custom" });
    await Promise.all(readers.map(({ ended }) => ended));
    const wallMs = performance.now() - began;
    const events = count * EVENTS.count;
    return { readers: count, events, cpuSeconds: cpuSeconds(pid) - cpuBefore, wallMs };
  } finally {
    for (const { leave } of readers) leave();
    agent.destroy();
  }
}

function report(alone: Round[], crowds: Round[]): BenchResult {
  const perSecond = (rounds: Round[]): number =>
    median(rounds.map(({ events, wallMs }) => (events * 1_000) / wallMs));
  const cpuMs = (rounds: Round[]): number =>
    median(rounds.map((each) => (each.cpuSeconds * 1_000) / each.events));
  const row = (rounds: Round[]): string[] => [
    String(rounds[0]?.readers),
    perSecond(rounds).toFixed(0),
    cpuMs(rounds).toFixed(4),
  ];
  console.log(`\n${EVENTS.count} events of a run, as fast as it writes them; medians`);
  printTable(["readers", "events/s", "CPU ms an event"], [alone, crowds].map(row));
  const fanout_100_vs_1 = roundTo(perSecond(crowds) / perSecond(alone), 3);
  console.log();
  printTable(["ratio", "measured", "aim"], [["fanout_100_vs_1", String(fanout_100_vs_1), ">= 20"]]);
  console.log();
  return { ratios: { fanout_100_vs_1 } };
}
