import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { buildTarball } from "../cli/project/tarball.ts";
import { startCountedPlatform } from "./cost/counted-platform.ts";
import { clientOf, firstEventMs, streamOnThread, waitOnThread } from "./cost/operations.ts";
import { type HopDelays, NO_DELAYS } from "./counting/counts.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { deployAgent } from "./support/deploy-agent.ts";
import { BENCH_GRAPHS } from "./support/paths.ts";
import { inScratch } from "./support/scratch.ts";
import { median, roundTo } from "./support/statistics.ts";
import { printTable } from "./support/table.ts";
import { timed } from "./support/timing.ts";

/** Whether this is only a short run that shows that the benchmark works. */
const SMALL = Boolean(process.env["BENCH_SMALL"]);

const TIME_LIMIT_MS = 8 * 60_000;
const SAMPLES = SMALL ? 3 : 15;
const CHUNKS = SMALL ? 20 : 100;
const CHUNK_DELAY_MS = 20;

/** The assumed duration of a hop between machines in one city; these variables change it. */
const EDGE: HopDelays = {
  object: fromEnv("BENCH_OBJECT_MS", 5),
  d1: fromEnv("BENCH_D1_MS", 25),
  r2: fromEnv("BENCH_R2_MS", 40),
  queue: fromEnv("BENCH_QUEUE_MS", 25),
};

type Measure = { title: string; name: string; sample: () => Promise<number> };

/**
 * Measures the latency for users when requests cross the network between Cloudflare's machines: each hop of the Worker
 * and its objects waits before it leaves. Runs without these delays, on this machine, alternate with those that have
 * them.
 */
export async function run(): Promise<BenchResult> {
  return inScratch("edge", TIME_LIMIT_MS, async (scratch) => {
    const platform = scratch.track(await startCountedPlatform(join(scratch.path, "platform")));
    const client = clientOf(platform, platform.agentUrl);
    const { bytes } = await buildTarball({ configPath: BENCH_GRAPHS });
    const deployed = clientOf(platform, await deployAgent(platform, "edge", bytes, 500));
    const measures = await measuresOf(client, deployed);
    for (const { sample } of measures) await sample();
    const rows: string[][] = [];
    const ratios: Record<string, number> = {};
    for (const { title, name, sample } of measures) {
      const here: number[] = [];
      const edge: number[] = [];
      for (let index = 0; index < SAMPLES; index += 1) {
        await platform.delayHops(NO_DELAYS);
        here.push(await sample());
        await platform.delayHops(EDGE);
        edge.push(await sample());
      }
      const added = median(edge) - median(here);
      rows.push([title, ...[median(here), median(edge), added].map((ms) => ms.toFixed(1))]);
      ratios[`${name}_added_ms`] = roundTo(added, 3);
    }
    const { object, d1, r2, queue } = EDGE;
    console.log(`\nms added to a hop: object ${object}, D1 ${d1}, R2 ${r2}, queue ${queue}`);
    printTable(["median ms", "here", "with them", "added"], rows);
    console.log();
    return { ratios };
  });
}

async function measuresOf(client: Client, deployed: Client): Promise<Measure[]> {
  const thread = await client.threads.create();
  const deployedThread = await deployed.threads.create();
  return [
    { title: "thread created", name: "create", sample: () => timed(() => client.threads.create()) },
    {
      title: "first event, existing thread",
      name: "first_event",
      sample: () => firstEventMs(client, thread.thread_id),
    },
    {
      title: "first event, new thread",
      name: "new_thread_first_event",
      sample: () => newThreadFirstEvent(client),
    },
    {
      title: "first event, deployed agent",
      name: "deployed_first_event",
      sample: () => firstEventMs(deployed, deployedThread.thread_id),
    },
    {
      title: "thread and runs.wait",
      name: "wait",
      sample: () => timed(() => waitOnThread(client)),
    },
    { title: "a streamed chunk", name: "chunk", sample: () => perChunk(client, false) },
    { title: "a resumable chunk", name: "resumable_chunk", sample: () => perChunk(client, true) },
  ];
}

async function newThreadFirstEvent(client: Client): Promise<number> {
  let threadId = "";
  const created = await timed(
    async () => ({ thread_id: threadId } = await client.threads.create()),
  );
  return created + (await firstEventMs(client, threadId));
}

/** Returns the mean milliseconds between two chunks, beyond the pause that the graph makes. */
async function perChunk(client: Client, resumable: boolean): Promise<number> {
  const times = await streamOnThread(client, { count: CHUNKS, resumable, delayMs: CHUNK_DELAY_MS });
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? 0;
  return (last - first) / (CHUNKS - 1) - CHUNK_DELAY_MS;
}

function fromEnv(name: string, otherwise: number): number {
  const text = process.env[name];
  const value = text === undefined ? otherwise : Number(text);
  if (!(value >= 0)) throw new Error(`${name} must be a number of milliseconds, not ${text}`);
  return value;
}
