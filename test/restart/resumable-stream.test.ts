import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attemptsOf, consecutiveIds, followRun, type StreamEvent } from "./support/follow-run.ts";
import { PlatformProcess } from "./support/platform-process.ts";
import { chooseSeed, Random } from "./support/random.ts";
import { messageTexts, type SlowInput, stepTexts } from "./support/slow-graph.ts";
import { until } from "./support/until.ts";

const STEPS = 12;
/** The steps that are left when a kill is decided on take longer than the kill. */
const STEP_MS = 300;
const RUN_TIMEOUT_MS = 300_000;
const input = (label: string): SlowInput => ({ label, steps: STEPS, delay_ms: STEP_MS });

const seed = chooseSeed();
const random = new Random(seed);
let platform: PlatformProcess;

beforeAll(async () => {
  platform = await PlatformProcess.start();
});
afterAll(() => platform.dispose());

test(`a stream that is joined again after crashes continues with the next id (RESTART_SEED=${seed})`, async () => {
  const { client } = platform;
  const { thread_id: threadId } = await client.threads.create();
  const { run_id: runId } = await client.runs.create(threadId, "slow", {
    input: input("joined"),
    streamMode: ["updates", "custom"],
    streamResumable: true,
  });
  const events: StreamEvent[] = [];
  const done = followRun(
    client,
    { threadId, runId },
    { deadline: Date.now() + RUN_TIMEOUT_MS, events },
  );

  for (const kill of [1, 2]) {
    const steps = kill * 3 + random.between(0, 2);
    await until(() => stepsOf(events).length >= steps, RUN_TIMEOUT_MS, `step ${steps}`);
    await platform.restart();
  }
  await done;

  expect(events.map(({ id }) => id)).toEqual(consecutiveIds(events.length));
  expect(attemptsOf(events)).toEqual([1, 2, 3]);
  expectOnlyInterruptedStepsTwice(events);
  expect(await messageTexts(client, threadId)).toEqual(
    stepTexts({ label: "joined", steps: STEPS }),
  );

  const replayed = await followRun(client, { threadId, runId }, { deadline: 0 });
  expect(replayed).toEqual(events);
});

test("the SDK's own stream survives a crash unnoticed by its caller", async () => {
  const client = new Client({ apiUrl: platform.url });
  const { thread_id: threadId } = await client.threads.create();
  const events: StreamEvent[] = [];
  let restarted: Promise<void> | undefined;
  const stream = client.runs.stream(threadId, "slow", {
    input: input("reconnected"),
    streamMode: "updates",
    streamResumable: true,
  });
  try {
    for await (const { id = "", event, data } of stream) {
      events.push({ id, event, data });
      if (stepsOf(events).length === 4) restarted ??= platform.restart();
    }
  } finally {
    await restarted;
  }

  expect(events.map(({ id }) => id)).toEqual(consecutiveIds(events.length));
  expect(attemptsOf(events)).toEqual([1, 2]);
  expectOnlyInterruptedStepsTwice(events);
});

test("a run whose stream cannot be resumed is finished as well", async () => {
  const { client } = platform;
  const { thread_id: threadId } = await client.threads.create();
  let runId = "";
  const stream = client.runs.stream(threadId, "slow", {
    input: input("plain"),
    streamMode: "updates",
    onRunCreated: ({ run_id }) => (runId = run_id),
  });
  const first = await stream.next();
  expect(first.value).toMatchObject({ event: "metadata", data: { attempt: 1 } });
  await platform.restart();
  await stream.return(undefined);

  const values = await client.runs.join(threadId, runId);
  expect(values).toMatchObject({ done: STEPS });
  expect(await messageTexts(client, threadId)).toEqual(stepTexts({ label: "plain", steps: STEPS }));
});

/** Returns the steps that the `updates` events report, in order. */
function stepsOf(events: readonly StreamEvent[]): number[] {
  return events.flatMap(({ event, data }) => {
    const update = data as { step?: { done: number } };
    return event === "updates" && update.step !== undefined ? [update.step.done] : [];
  });
}

/** Expects that each attempt continues where the one before was: with its last step once more, or with the next one. */
function expectOnlyInterruptedStepsTwice(events: readonly StreamEvent[]): void {
  const attempts: StreamEvent[][] = [];
  for (const event of events) {
    if (event.event === "metadata") attempts.push([]);
    attempts.at(-1)?.push(event);
  }
  let last = 0;
  for (const attempt of attempts) {
    const steps = stepsOf(attempt);
    const [first = last + 1] = steps;
    expect([last, last + 1]).toContain(first);
    expect(steps).toEqual(steps.map((_, index) => first + index));
    last = steps.at(-1) ?? last;
  }
  expect(last).toBe(STEPS);
}
