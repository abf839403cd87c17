import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runIdOfTick } from "../../src/lib/cron-tick.ts";
import { Batches } from "./support/batches.ts";
import { DueCrons } from "./support/due-crons.ts";
import { PlatformProcess } from "./support/platform-process.ts";
import { chooseSeed, Random } from "./support/random.ts";
import { until } from "./support/until.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./support/webhook-receiver.ts";

const KILLS = 8;
const CRONS_OF_A_KIND = 8;
/** No test runs at midnight of a new year. */
const YEARLY = "0 0 1 1 *";
/** A webhook whose attempt was interrupted is sent again after 25 seconds, and after 50 more. */
const SETTLE_TIMEOUT_MS = 300_000;

const seed = chooseSeed();
const random = new Random(seed);
let platform: PlatformProcess;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver(new Random(seed));
  platform = await PlatformProcess.start();
});
afterAll(async () => {
  await platform?.dispose();
  await receiver?.close();
});

/**
 * Creates crons of two kinds: some have one thread for all of their runs, others make a thread for each run and delete
 * it with the run.
 */
async function makeCrons(client: Client): Promise<Map<string, string>> {
  const threadsByCron = new Map<string, string>();
  const payload = { schedule: YEARLY, input: {}, webhook: receiver.address("crons") };
  for (let index = 0; index < CRONS_OF_A_KIND; index += 1) {
    await client.crons.create("branching", payload);
    const { thread_id } = await client.threads.create();
    const made: unknown = await client.crons.createForThread(thread_id, "branching", payload);
    threadsByCron.set((made as { cron_id: string }).cron_id, thread_id);
  }
  return threadsByCron;
}

/** Waits until messages for all of the wanted ids have come, and returns the ids of all messages that came. */
async function untilReceived(kind: string, wanted: () => Promise<string[]>): Promise<string[]> {
  return until(
    async () => {
      const ids = [...receiver.received(kind).keys()].toSorted();
      const all = new Set(ids);
      return (await wanted()).every((id) => all.has(id)) && ids;
    },
    SETTLE_TIMEOUT_MS,
    `the webhooks of all ${kind}`,
  );
}

/** Returns the ids whose messages contradict each other about the same run. */
function contradicted(kind: string): string[] {
  return [...receiver.received(kind)].flatMap(([id, bodies]) => {
    const said = bodies.map(({ webhook_sent_at: _own, ...facts }) => JSON.stringify(facts));
    return new Set(said).size === 1 && bodies[0]?.["run_id"] === id ? [] : [id];
  });
}

test(`each tick has one run, the end of each run is reported, and no answered batch is lost (RESTART_SEED=${seed})`, async () => {
  const { client } = platform;
  const threadsByCron = await makeCrons(client);
  const crons = new DueCrons(platform.stateDir, Date.now());
  const batches = new Batches(platform, receiver.address("batches"));
  const stop = new AbortController();
  const making = batches.make(stop.signal);
  let cutSweeps = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    if (kill % 4 === 3) {
      // This kills the runtime alone. The rest of its sweep is done a minute later, or after the next start.
      await platform.crash();
      await sleep(random.between(0, 300));
      continue;
    }
    await platform.kill();
    crons.tick();
    await platform.start();
    const left = random.between(1, 2 * CRONS_OF_A_KIND);
    await until(() => crons.waiting() <= left, SETTLE_TIMEOUT_MS, "the sweep of crons");
    await sleep(random.between(0, 40));
    if (crons.waiting() > 0) cutSweeps += 1;
  }
  await platform.restart();
  stop.abort();
  await making;

  // Without this, no kill might have interrupted a sweep, and the test would show nothing.
  expect(cutSweeps).toBeGreaterThan(0);
  const expected = crons.ticks.map(runIdOfTick).toSorted();
  expect(expected.length).toBeGreaterThan(2 * CRONS_OF_A_KIND);
  expect(await untilReceived("crons", async () => expected)).toEqual(expected);
  for (const [cronId, threadId] of threadsByCron) {
    const runs = await client.runs.list(threadId, { limit: 1000 });
    const own = crons.ticks.filter((tick) => tick.cronId === cronId).map(runIdOfTick);
    expect(runs.map(({ run_id }) => run_id).toSorted()).toEqual(own.toSorted());
  }

  await untilReceived("batches", async () => batches.answered.flat());
  const told = (): string[] => [...receiver.received("batches").keys()].toSorted();
  const isAllTold = async () => isDeepStrictEqual(await batches.runIds(), told());
  await until(
    isAllTold,
    SETTLE_TIMEOUT_MS,
    "the same runs of batches in the index and by webhooks",
  );
  expect(batches.answered.length).toBeGreaterThan(0);
  expect([...contradicted("crons"), ...contradicted("batches")]).toEqual([]);
});
