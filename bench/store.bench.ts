import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { DIMS, vectorOf } from "./store/vectors.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch } from "./support/scratch.ts";
import { startPlatformServer } from "./support/start-platform.ts";
import { median, p95 } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { cpuSeconds, workerdOf } from "./support/workerd-usage.ts";

/** Whether this is only a short run that shows that the benchmark works; its figures mean nothing. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 15 * 60_000;
const ITEMS = SMALL ? 2_000 : 100_000;
const FILLED_AT_ONCE = 500;
const ROUNDS = SMALL ? 1 : 7;
const ITEM_BYTES = DIMS * Float32Array.BYTES_PER_ELEMENT;
/** Items that plain Node reads at a time. */
const READ_ITEMS = 5_000;
const HELD_UP_EVERY_MS = 5;

type Round = { cpuSeconds: number; wallMs: number; heldUpMs: number[] };

/** Compares a search by meaning with the least work of any exact search: reading the vectors and multiplying them. */
export async function run(): Promise<BenchResult> {
  return inScratch("store", TIME_LIMIT_MS, async (scratch) => {
    // Connections time out while this process is busy, so the part that needs no connection comes first.
    const file = join(scratch.path, "vectors");
    writeVectors(file);
    const rounds = Array.from({ length: ROUNDS + 1 }, (_, number) => number);
    const plain = rounds.map((number) => plainSearch(file, number));
    const stateDir = join(scratch.path, "state");
    const configPath = join(import.meta.dirname, "store/langgraph.json");
    const { url } = scratch.track(await startPlatformServer({ configPath, stateDir }));
    const client = new Client({ apiUrl: url });
    for (let from = 0; from < ITEMS; from += FILLED_AT_ONCE) {
      await client.runs.wait(null, "filler", { input: { from, count: FILLED_AT_ONCE } });
    }
    const pid = workerdOf(stateDir);
    const searches: Round[] = [];
    for (const number of rounds) searches.push(await search(client, pid, number));
    // The first rounds are warm-ups.
    return report(searches.slice(1), plain.slice(1));
  });
}

async function search(client: Client, pid: number, number: number): Promise<Round> {
  const [cpuBefore, began] = [cpuSeconds(pid), performance.now()];
  const end = new AbortController();
  const searching = client.store
    .searchItems(["many"], { query: `${number}` })
    .finally(() => end.abort());
  // Another client requests one item meanwhile.
  const heldUpMs: number[] = [];
  const others = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const asked = performance.now();
      await client.store.getItem(["many"], "0");
      heldUpMs.push(performance.now() - asked);
      await new Promise((resolve) => setTimeout(resolve, HELD_UP_EVERY_MS));
    }
  };
  const [{ items }] = await Promise.all([searching, others()]);
  if (items[0]?.key !== `${number}` || items.length !== 10) {
    throw new Error(`The nearest to ${number} is ${items[0]?.key}`);
  }
  const wallMs = performance.now() - began;
  return { cpuSeconds: cpuSeconds(pid) - cpuBefore, wallMs, heldUpMs };
}

function writeVectors(file: string): void {
  const opened = openSync(file, "w");
  for (let number = 0; number < ITEMS; number += 1) writeSync(opened, vectorOf(number));
  closeSync(opened);
}

/** Returns the CPU seconds that reading and multiplying all vectors takes. */
function plainSearch(file: string, number: number): number {
  const before = process.cpuUsage();
  const query = vectorOf(number);
  const page = new Float32Array(READ_ITEMS * DIMS);
  const opened = openSync(file, "r");
  let best = { score: -Infinity, number: -1 };
  for (let first = 0; first < ITEMS; first += READ_ITEMS) {
    const items = readSync(opened, page) / ITEM_BYTES;
    for (let index = 0; index < items; index += 1) {
      const score = product(query, page, index * DIMS);
      if (score > best.score) best = { score, number: first + index };
    }
  }
  closeSync(opened);
  if (best.number !== number) throw new Error(`The nearest to ${number} is ${best.number}`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function product(query: Float32Array, page: Float32Array, start: number): number {
  let sum = 0;
  for (let index = 0; index < DIMS; index += 1) {
    sum += (query[index] ?? 0) * (page[start + index] ?? 0);
  }
  return sum;
}

function report(searches: Round[], plain: number[]): BenchResult {
  const cpu = median(searches.map((round) => round.cpuSeconds));
  const held = searches.flatMap(({ heldUpMs }) => heldUpMs);
  console.log(`\nthe 10 nearest of ${ITEMS} items with ${DIMS} dimensions`);
  printTable(
    ["", "CPU s", "wall ms"],
    [
      ["search", cpu.toFixed(2), median(searches.map(({ wallMs }) => wallMs)).toFixed(0)],
      ["read and multiply in Node", median(plain).toFixed(2), ""],
    ],
  );
  console.log("\nms that other clients wait for an item meanwhile");
  const row = [median(held), p95(held), Math.max(...held)].map((ms) => ms.toFixed(0));
  printTable(["", "median", "p95", "most"], [["", ...row]]);
  return reportRatios({ search_cpu_vs_plain: [cpu / median(plain), "<= 4"] });
}
