import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { dollarsPerMillion, perOperation } from "./cost/bill.ts";
import { type CountedPlatform, startCountedPlatform } from "./cost/counted-platform.ts";
import { clientOf } from "./cost/operations.ts";
import type { Shares } from "./counting/counts.ts";
import { LIMITS, type Load, type Measured, printBill, printLimits } from "./scale/at-scale.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { inScratch } from "./support/scratch.ts";
import { QUESTION } from "./support/side.ts";
import { roundTo } from "./support/statistics.ts";
import { cpuSeconds } from "./support/workerd-usage.ts";

/** Whether this is only a short run that shows that the benchmark works. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 9 * 60_000;
const WARM_UPS = 3;
const THREADS = SMALL ? 5 : 60;
const RUNS_OF_A_THREAD = SMALL ? 2 : 5;
/** Threads, each with its own object, that are made and read at the same time to see how many one machine holds. */
const OBJECTS = Number(process.env["BENCH_OBJECTS"] ?? (SMALL ? 200 : 50_000));
const AT_ONCE = 64;
const OPENING_LIMIT_MS = 3 * 60_000;

const LOADS: Load[] = [
  { threads: 1_000, runsADay: 10_000, deployments: 1, projects: 1 },
  { threads: 100_000, runsADay: 1_000_000, deployments: 20, projects: 20 },
  { threads: 1_000_000, runsADay: 100_000_000, deployments: 500, projects: 500 },
];

/**
 * Multiplies the counts of a thread and of a run, to get the bill and the size at which each published limit of the
 * platform is met. Also tries what can be tried here: very many objects on one machine.
 */
export async function run(): Promise<BenchResult> {
  return inScratch("scale", TIME_LIMIT_MS, async (scratch) => {
    const platform = scratch.track(await startCountedPlatform(join(scratch.path, "platform")));
    const client = clientOf(platform, platform.agentUrl);
    for (let index = 0; index < WARM_UPS; index += 1) await runOn(client, await threadOf(client));
    const ids: string[] = [];
    const thread = await measure(platform, THREADS, async () => {
      ids.push(await threadOf(client));
    });
    const oneRun = await measure(platform, THREADS * RUNS_OF_A_THREAD, async (index) =>
      runOn(client, ids[index % THREADS] ?? ""),
    );
    printBill(LOADS, { thread, run: oneRun });
    printLimits({ thread, run: oneRun });
    const opened = await openMany(platform, client);
    return {
      ratios: {
        dollars_per_million_runs: roundTo(oneRun.dollars, 3),
        bytes_per_thread: Math.round(bytesOf(thread.shares)),
        bytes_per_run: Math.round(bytesOf(oneRun.shares)),
        ...Object.fromEntries(
          LIMITS.map(({ name, unitsAt }) => [name, roundTo(unitsAt({ thread, run: oneRun }), 3)]),
        ),
        ...opened,
      },
    };
  });
}

async function threadOf(client: Client): Promise<string> {
  return (await client.threads.create()).thread_id;
}

async function runOn(client: Client, threadId: string): Promise<void> {
  const values = await client.runs.wait(threadId, "agent", { input: { messages: [QUESTION] } });
  if (!("messages" in values)) throw new Error(`A run gave ${JSON.stringify(values)}`);
}

function bytesOf({ bytes }: Shares): number {
  return Object.values(bytes).reduce((sum, each) => sum + each, 0);
}

async function measure(
  platform: CountedPlatform,
  operations: number,
  operation: (index: number) => Promise<void>,
): Promise<Measured> {
  const before = await platform.settled();
  const cpuBefore = cpuSeconds(platform.workerdPid);
  const startedAt = performance.now();
  for (let index = 0; index < operations; index += 1) await operation(index);
  const seconds = (performance.now() - startedAt) / 1_000 / operations;
  const after = await platform.settled();
  const cpuMs = ((cpuSeconds(platform.workerdPid) - cpuBefore) * 1_000) / operations;
  const counts = perOperation(before.counts, after.counts, operations);
  const each = (of: keyof Shares): Record<string, number> =>
    Object.fromEntries(
      Object.entries(after.shares[of]).map(([name, amount]) => [
        name,
        (amount - (before.shares[of][name] ?? 0)) / operations,
      ]),
    );
  const shares = { calls: each("calls"), bytes: each("bytes") };
  return { counts, shares, dollars: dollarsPerMillion({ ...counts, cpuMs, seconds }) };
}

/**
 * Makes threads from many clients at once until there are enough or time is over, and then reads the
 * first ones again.
 */
async function openMany(
  platform: CountedPlatform,
  client: Client,
): Promise<{ objects_opened: number; objects_per_second: number }> {
  const deadline = performance.now() + OPENING_LIMIT_MS;
  const ids: string[] = [];
  const startedAt = performance.now();
  const worker = async (): Promise<void> => {
    while (ids.length < OBJECTS && performance.now() < deadline) ids.push(await threadOf(client));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const id of ids.slice(0, 100)) await client.threads.get(id);
  const perSecond = ids.length / seconds;
  const cpu = cpuSeconds(platform.workerdPid);
  console.log(
    `${ids.length} objects were opened in ${seconds.toFixed(0)} s (${perSecond.toFixed(0)} a second), by ${AT_ONCE} clients; workerd has used ${cpu.toFixed(0)} s of CPU since its start; the first 100 answered again\n`,
  );
  return { objects_opened: ids.length, objects_per_second: roundTo(perSecond, 3) };
}
