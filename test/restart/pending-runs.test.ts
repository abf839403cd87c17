import { afterAll, beforeAll, expect, test } from "vitest";
import { PlatformProcess } from "./support/platform-process.ts";
import { messageTexts, type SlowInput, stepTexts } from "./support/slow-graph.ts";
import { until } from "./support/until.ts";

/** The alarm that finds a run again was set up to ten seconds ahead before the crash. */
const ALARM_TIMEOUT_MS = 90_000;
/** A delayed run waits this many times as long as a restart took, so that it is still pending after the next one. */
const RESTARTS_OUTLASTED = 3;
const HOUR_SECONDS = 3600;

let platform: PlatformProcess;

beforeAll(async () => {
  platform = await PlatformProcess.start();
});
afterAll(() => platform.dispose());

/** Reads the status from the index, as reading the thread itself would wake it. */
async function statusInIndex(threadId: string): Promise<string | undefined> {
  const [thread] = await platform.client.threads.search({ ids: [threadId] });
  return thread?.status;
}

async function untilStatusInIndex(
  threadId: string,
  status: string,
  timeoutMs = ALARM_TIMEOUT_MS,
): Promise<void> {
  await until(
    async () => (await statusInIndex(threadId)) === status,
    timeoutMs,
    `status ${status} in the index`,
  );
}

/** Returns the time of the thread's first checkpoint, by the server's clock, which is also the test's. */
async function firstStepAt(threadId: string): Promise<number> {
  const history = await platform.client.threads.getHistory(threadId, { limit: 100 });
  return Date.parse(String(history.at(-1)?.created_at));
}

test("runs that waited for their turn or their time run after a crash without any request", async () => {
  const { client } = platform;
  const begun = performance.now();
  await platform.restart();
  const restartMs = performance.now() - begun;
  const delayMs = Math.ceil(RESTARTS_OUTLASTED * restartMs);

  const queued: SlowInput[] = ["first", "second", "third"].map((label) => ({
    label,
    steps: 3,
    // All steps together take longer than a restart, so that the kill comes before their end.
    delay_ms: Math.ceil(restartMs / 6),
  }));
  const { thread_id: queueId } = await client.threads.create();
  for (const input of queued) {
    await client.runs.create(queueId, "slow", { input, multitaskStrategy: "enqueue" });
  }
  const { thread_id: delayedId } = await client.threads.create();
  const delayed: SlowInput = { label: "delayed", steps: 1, delay_ms: 1 };
  const created = Date.now();
  const { run_id: delayedRun } = await client.runs.create(delayedId, "slow", {
    input: delayed,
    afterSeconds: delayMs / 1000,
  });
  const { thread_id: laterId } = await client.threads.create();
  const later = await client.runs.create(laterId, "slow", {
    input: { label: "later", steps: 1, delay_ms: 1 },
    afterSeconds: HOUR_SECONDS,
  });
  for (const id of [queueId, delayedId, laterId]) await untilStatusInIndex(id, "busy");
  await platform.restart();

  await untilStatusInIndex(delayedId, "idle", delayMs + ALARM_TIMEOUT_MS);
  await untilStatusInIndex(queueId, "idle");

  expect(await client.runs.get(delayedId, delayedRun)).toMatchObject({ status: "success" });
  expect(await messageTexts(client, delayedId)).toEqual(stepTexts(delayed));
  expect(await firstStepAt(delayedId)).toBeGreaterThanOrEqual(created + delayMs);
  expect(await messageTexts(client, queueId)).toEqual(queued.flatMap(stepTexts));
  expect(await client.runs.get(laterId, later.run_id)).toMatchObject({ status: "pending" });
  expect(await statusInIndex(laterId)).toBe("busy");
});

test("a search shows the current status of each thread, although the crash came before the index was updated", async () => {
  const { client } = platform;
  const ends = {
    idle: { graph: "slow", input: { steps: 1, delay_ms: 1 } },
    interrupted: { graph: "interrupts", input: {} },
    error: { graph: "throws", input: { message: "thrown by the fixture" } },
  } as const;
  const threads = new Map<string, string>();
  for (const [status, { graph, input }] of Object.entries(ends)) {
    const thread = await client.threads.create({ metadata: { heals: true, graph } });
    threads.set(thread.thread_id, status);
    await client.runs.wait(thread.thread_id, graph, { input, raiseError: false });
  }
  const delayed = await client.threads.create({ metadata: { heals: true, graph: "none" } });
  threads.set(delayed.thread_id, "busy");
  await client.runs.create(delayed.thread_id, "slow", { afterSeconds: HOUR_SECONDS });
  // Acknowledged changes are durable, but the index is updated a moment later.
  await platform.restart();

  const found = await until(
    async () => {
      const all = await client.threads.search({ metadata: { heals: true } });
      return all.every(({ thread_id, status }) => threads.get(thread_id) === status) && all;
    },
    ALARM_TIMEOUT_MS,
    "the right statuses in the index",
  );
  expect(new Map(found.map(({ thread_id, status }) => [thread_id, status]))).toEqual(threads);
  const idle = await client.threads.search({ metadata: { heals: true }, status: "idle" });
  expect(idle).toMatchObject([{ metadata: { graph: "slow" }, values: { done: 1 } }]);
});
