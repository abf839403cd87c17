import { afterAll, beforeAll, expect, test } from "vitest";
import { PlatformProcess } from "./support/platform-process.ts";

const ATTEMPTS = 3;
const ERROR = {
  error: "RunInterruptedError",
  message: "The run was interrupted 3 times and is not tried again.",
};

let platform: PlatformProcess;

beforeAll(async () => {
  platform = await PlatformProcess.start();
});
afterAll(() => platform.dispose());

test("a run that was interrupted three times ends with an error, and the thread accepts further runs", async () => {
  const { client } = platform;
  const { thread_id: threadId } = await client.threads.create();
  const { run_id: runId } = await client.runs.create(threadId, "forever", {
    input: {},
    streamMode: "custom",
    streamResumable: true,
  });
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    await untilSecondNode(threadId, runId, attempt);
    await platform.restart();
  }

  expect(await client.runs.join(threadId, runId)).toEqual({ __error__: ERROR });
  expect(await client.runs.get(threadId, runId)).toMatchObject({ status: "error" });
  expect(await client.threads.get(threadId)).toMatchObject({
    status: "error",
    error: ERROR,
    values: { started: true },
  });
  const events: unknown[] = [];
  for await (const { event, data } of client.runs.joinStream(threadId, runId, {
    lastEventId: "-1",
  })) {
    if (event !== "custom") events.push({ event, data });
  }
  const metadata = (attempt: number): object => ({
    event: "metadata",
    data: { run_id: runId, attempt },
  });
  expect(events).toEqual([metadata(1), metadata(2), metadata(3), { event: "error", data: ERROR }]);

  const next = await client.runs.wait(threadId, "slow", { input: { steps: 1, delay_ms: 1 } });
  expect(next).toMatchObject({ done: 1 });
  expect(await client.threads.get(threadId)).toMatchObject({ status: "idle", error: null });
});

/** Resolves when the attempt is in the graph's second node, so that the step of the first one is stored. */
async function untilSecondNode(threadId: string, runId: string, attempt: number): Promise<void> {
  const stream = platform.client.runs.joinStream(threadId, runId, { lastEventId: "-1" });
  let current = 0;
  for await (const { event, data } of stream) {
    if (event === "metadata") current = (data as { attempt: number }).attempt;
    if (event === "custom" && current === attempt) return;
  }
  throw new Error(`the run ended before attempt ${attempt}`);
}
