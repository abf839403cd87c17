import { setTimeout as sleep } from "node:timers/promises";
import type { Run } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attemptsOf, consecutiveIds, followRun, type StreamEvent } from "./support/follow-run.ts";
import { PlatformProcess } from "./support/platform-process.ts";
import { chooseSeed, Random } from "./support/random.ts";
import { messageTexts, type SlowInput, stepTexts } from "./support/slow-graph.ts";
import { until } from "./support/until.ts";

const THREADS = 5;
const RUNS_PER_THREAD = 4;
const STEPS = 8;
const STEP_MS = 120;
const KILLS = 8;
/** A run is given up after its third interruption, so no run may be interrupted more often than this. */
const MAX_HITS = 2;
const SETTLE_TIMEOUT_MS = 300_000;

const seed = chooseSeed();
const random = new Random(seed);
let platform: PlatformProcess;

beforeAll(async () => {
  platform = await PlatformProcess.start();
});
afterAll(() => platform.dispose());

type Plan = { threadId: string; label: string; kind: "background" | "stream"; at: number };

/** Plans when each run is created: `at` is the number of the start of the platform after which. */
function makePlan(threadIds: string[]): Plan[] {
  return threadIds.flatMap((threadId, thread) =>
    Array.from({ length: RUNS_PER_THREAD }, (_, index) => ({
      threadId,
      label: `t${thread}r${index}`,
      kind: random.pick(["background", "stream"] as const),
      at: random.between(0, KILLS - 2),
    })),
  );
}

test(`each step of each acknowledged run is there once, in order (RESTART_SEED=${seed})`, async () => {
  const { client } = platform;
  const threadIds: string[] = [];
  for (let index = 0; index < THREADS; index += 1) {
    threadIds.push((await client.threads.create()).thread_id);
  }
  const deadline = Date.now() + SETTLE_TIMEOUT_MS + KILLS * 60_000;
  const plan = makePlan(threadIds);
  const acknowledged = new Map<string, Plan>();
  const followed: Promise<StreamEvent[]>[] = [];
  const hits = new Map<string, number>();

  /**
   * Repeats the request until the server acknowledges the run. A lost answer may leave a second run that
   * was stored.
   */
  async function create(planned: Plan): Promise<void> {
    const input: SlowInput = { label: planned.label, steps: STEPS, delay_ms: STEP_MS };
    for (;;) {
      try {
        const run = await client.runs.create(planned.threadId, "slow", {
          input,
          streamMode: "updates",
          streamResumable: planned.kind === "stream",
          multitaskStrategy: "enqueue",
        });
        acknowledged.set(run.run_id, planned);
        if (planned.kind === "stream") {
          const ids = { threadId: planned.threadId, runId: run.run_id };
          followed.push(followRun(client, ids, { deadline }));
        }
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(50);
      }
    }
  }

  async function runsInFlight(threadId: string): Promise<Run[]> {
    const runs = await client.runs.list(threadId, { limit: 100 });
    return runs.filter(({ status }) => status === "pending" || status === "running").toReversed();
  }

  /** Returns the runs that a kill at this moment may interrupt: the running ones, and those that may follow them. */
  async function exposedRuns(): Promise<Run[]> {
    const perThread = await Promise.all(threadIds.map(runsInFlight));
    return perThread.flatMap((runs) => runs.slice(0, 2));
  }

  const creations: Promise<void>[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const uptimeMs = random.between(150, 1200);
    for (const planned of plan.filter(({ at }) => at === kill)) {
      const offsetMs = random.between(0, uptimeMs + 50);
      creations.push(sleep(offsetMs).then(() => create(planned)));
    }
    await sleep(uptimeMs);
    let lookedAt = 0;
    const exposed = await until(
      async () => {
        lookedAt = Date.now();
        const runs = await exposedRuns();
        return runs.every(({ run_id }) => (hits.get(run_id) ?? 0) < MAX_HITS) && runs;
      },
      SETTLE_TIMEOUT_MS,
      "the end of a run that was interrupted twice",
    );
    await platform.restart();
    // A run that was created between the look and the kill counts as hit, too.
    const unseen = (await exposedRuns()).filter((run) => Date.parse(run.created_at) >= lookedAt);
    const hit = new Set([...exposed, ...unseen].map(({ run_id }) => run_id));
    for (const runId of hit) hits.set(runId, (hits.get(runId) ?? 0) + 1);
  }
  await Promise.all(creations);

  const allRuns = await until(
    async () => {
      const perThread = await Promise.all(
        threadIds.map((threadId) => client.runs.list(threadId, { limit: 100 })),
      );
      const runs = perThread.flat();
      return runs.every(({ status }) => status !== "pending" && status !== "running") && runs;
    },
    SETTLE_TIMEOUT_MS,
    "the end of all runs",
  );

  expect(acknowledged.size).toBe(THREADS * RUNS_PER_THREAD);
  const statuses = new Map(allRuns.map(({ run_id, status }) => [run_id, status]));
  const notSucceeded = [...acknowledged.keys()]
    .map((runId) => ({ runId, status: statuses.get(runId), hits: hits.get(runId) ?? 0 }))
    .filter(({ status }) => status !== "success");
  expect(notSucceeded).toEqual([]);

  for (const threadId of threadIds) {
    const runs = allRuns.filter((run) => run.thread_id === threadId).toReversed();
    const expected = runs.flatMap((run) => stepTexts(inputOf(run)));
    expect(await messageTexts(client, threadId)).toEqual(expected);
  }

  for (const events of await Promise.all(followed)) {
    expect(events.map(({ id }) => id)).toEqual(consecutiveIds(events.length));
    const attempts = attemptsOf(events);
    expect(attempts).toEqual(attempts.map((_, index) => index + 1));
    expect(attempts.length).toBeLessThanOrEqual(MAX_HITS + 1);
  }

  const attempts = await Promise.all(threadIds.map((threadId) => attemptsByRun(threadId)));
  const continued = attempts.flat().filter((attempt) => attempt > 1);
  expect(Math.max(...attempts.flat())).toBeLessThanOrEqual(MAX_HITS + 1);
  // Without this, no kill might have interrupted a run, and the test would show nothing.
  expect(continued.length).toBeGreaterThan(2);
});

/** Returns the number of attempts of each run, from its checkpoints. */
async function attemptsByRun(threadId: string): Promise<number[]> {
  const history = await platform.client.threads.getHistory(threadId, { limit: 1000 });
  const attempts = new Map<string, number>();
  for (const { metadata } of history) {
    const { run_id, run_attempt } = metadata as { run_id?: string; run_attempt?: number };
    if (run_id === undefined || run_attempt === undefined) continue;
    attempts.set(run_id, Math.max(attempts.get(run_id) ?? 0, run_attempt));
  }
  return [...attempts.values()];
}

function inputOf(run: Run): SlowInput {
  const { kwargs } = run as Run & { kwargs: { input: SlowInput } };
  return kwargs.input;
}
