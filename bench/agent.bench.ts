import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Measured, report, type Samples } from "./support/agent-report.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { AT_FULL_SPEED, type Side } from "./support/side.ts";
import { type AgentSides, startAgentSides } from "./support/start-agent-sides.ts";
import { measureThroughput } from "./support/throughput.ts";

const TIME_LIMIT_MS = 10 * 60_000;
const WARM_UP = { rounds: 2, concurrency: 32, rampMs: 0, windowMs: 2_000, single: 5 };
const WAIT_ROUNDS = 30;
const THROUGHPUT = { rounds: 3, concurrency: 32, rampMs: 1_000, windowMs: 3_000 };
/**
 * The peer has a new run wait until one of its workers looks for runs, which each does at random times: some 50 ms on
 * average, spread exponentially. The median of this many rounds is then off by a tenth.
 */
const FIRST_EVENT_ROUNDS = 100;
const CHUNK_DELAY = { rounds: 15, tokenDelayMs: 5 };
const QUEUE = { runs: 100, rounds: 3, peerRounds: 1 };

export async function run(): Promise<BenchResult> {
  // A new thread is a new SQLite file, so the throughput depends on where those files are. The peer keeps its threads
  // in memory; with BENCH_STATE_ROOT on a RAM disk, the platform's files are in memory, too.
  const scratch = await mkdtemp(join(process.env["BENCH_STATE_ROOT"] ?? tmpdir(), "bench-agent-"));
  console.log(`state: ${scratch}`);
  const started: Side[] = [];
  const onSignal = (): void => void closeAll(started, scratch).finally(() => process.exit(130));
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    const sides = await startAgentSides(scratch, (side) => started.push(side));
    return report(await withinTimeLimit(measure(sides)), QUEUE.runs);
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
    await closeAll(started, scratch);
  }
}

/** Fails the benchmark when a side hangs. The abandoned work ends later, when the process of that side is stopped. */
async function withinTimeLimit<T>(work: Promise<T>): Promise<T> {
  const { promise: tooLong, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`Not finished after ${TIME_LIMIT_MS / 60_000} minutes`)),
    TIME_LIMIT_MS,
  );
  try {
    return await Promise.race([work, tooLong]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

async function closeAll(sides: Side[], scratch: string): Promise<void> {
  await Promise.allSettled(sides.map((side) => side.close()));
  await rm(scratch, { recursive: true, force: true });
}

/** The sides take turns within every round, so that a noisy moment of the machine affects all of them. */
async function measure({ systems, bounds, nothing }: AgentSides): Promise<Measured> {
  const all = [...systems, ...bounds];
  const samples = (): Samples => new Map();
  const measured: Measured = {
    wait: samples(),
    throughput: samples(),
    streamThroughput: samples(),
    firstEvent: samples(),
    firstChunk: samples(),
    chunkDelay: samples(),
    queueRun: samples(),
  };
  const add = (to: Samples, { name }: Side, ...values: number[]): void => {
    const known = to.get(name) ?? [];
    known.push(...values);
    to.set(name, known);
  };
  const phase = async (
    title: string,
    sides: readonly Side[],
    rounds: number,
    measureOne: (side: Side, round: number) => Promise<void>,
  ): Promise<void> => {
    const startedAt = performance.now();
    for (const side of sides) await side.reset();
    for (let round = 0; round < rounds; round += 1) {
      for (const side of rotated(sides, round)) {
        await side.settle();
        await measureOne(side, round);
      }
    }
    console.log(`${title}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  };

  await phase("warm-up", all, WARM_UP.rounds, async (side) => {
    await measureThroughput(() => side.createThreadAndWait(), WARM_UP);
    await measureThroughput(() => side.createThreadAndStream(AT_FULL_SPEED), WARM_UP);
    for (let index = 0; index < WARM_UP.single; index += 1) await side.createThreadAndWait();
  });
  await phase("warm-up of nothing", [nothing], 1, async () => {
    await measureThroughput(() => nothing.createThreadAndAwaitEvent(), WARM_UP);
  });
  await phase("create thread and wait, one at a time", all, WAIT_ROUNDS, async (side) => {
    const startedAt = performance.now();
    await side.createThreadAndWait();
    add(measured.wait, side, performance.now() - startedAt);
  });
  await phase("time to first event", [...all, nothing], FIRST_EVENT_ROUNDS, async (side) => {
    if (side === nothing) {
      add(measured.firstEvent, side, await nothing.createThreadAndAwaitEvent());
      return;
    }
    const { firstEventMs, firstChunkMs } = await side.createThreadAndStream(AT_FULL_SPEED);
    add(measured.firstEvent, side, firstEventMs);
    add(measured.firstChunk, side, firstChunkMs);
  });
  await phase("delay per streamed chunk", systems, CHUNK_DELAY.rounds, async (side) => {
    const context = { stamp: true, token_delay_ms: CHUNK_DELAY.tokenDelayMs };
    const { chunkDelaysMs } = await side.createThreadAndStream(context);
    add(measured.chunkDelay, side, ...chunkDelaysMs);
  });
  await phase("create thread and wait, 32 at a time", all, THROUGHPUT.rounds, async (side) => {
    const operation = (): Promise<unknown> => side.createThreadAndWait();
    add(measured.throughput, side, await measureThroughput(operation, THROUGHPUT));
  });
  await phase("create thread and stream, 32 at a time", all, THROUGHPUT.rounds, async (side) => {
    const operation = (): Promise<unknown> => side.createThreadAndStream(AT_FULL_SPEED);
    add(measured.streamThroughput, side, await measureThroughput(operation, THROUGHPUT));
  });
  await phase("runs queued on one thread", systems, QUEUE.rounds, async (side, round) => {
    if (side.name === "peer" && round >= QUEUE.peerRounds) return;
    add(measured.queueRun, side, (await side.queueOnOneThread(QUEUE.runs)) / QUEUE.runs);
  });
  return measured;
}

function rotated<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
