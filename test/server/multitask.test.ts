import type { Client } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { human, textsOf } from "../support/messages.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { newThread } from "../support/new-thread.ts";

const test = testInWorkspace();

const BUSY =
  "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.";

type Values = { messages: { content: string }[] };

/** Starts a run that is long enough for other runs to arrive meanwhile, but ends at once when cancelled. */
function slowRun(client: Client, threadId: string, label: string, options: object = {}) {
  const input = { label, steps: 3, delay_ms: 10_000 };
  return client.runs.create(threadId, "slow", { input, ...options });
}

function quickRun(client: Client, threadId: string, label: string, options: object = {}) {
  const input = { label, steps: 1, delay_ms: 0 };
  return client.runs.create(threadId, "slow", { input, ...options });
}

/** Starts a run, and waits until its first step is done and the second one is running. */
async function runToSecondStep(client: Client, threadId: string, label: string) {
  // The first step is quick and the second one is slow, as the run is resumed with another delay.
  const input = { label, steps: 5, delay_ms: 0 };
  const options = { input, interruptAfter: ["step"] };
  await client.runs.wait(threadId, "slow", options);
  await client.threads.updateState(threadId, { values: { delay_ms: 10_000 }, asNode: "step" });
  return client.runs.create(threadId, "slow", { input: null });
}

async function untilRunning(client: Client, threadId: string, runId: string): Promise<void> {
  await vi.waitFor(async () => {
    const { status } = await client.runs.get(threadId, runId);
    if (status !== "running") throw new Error(`It is ${status}`);
  }, 60_000);
}

async function statusesOf(client: Client, threadId: string): Promise<[string, string][]> {
  const runs = await client.runs.list(threadId);
  return runs.map(({ run_id, status }) => [run_id, status]);
}

describe("enqueue", () => {
  test("executes runs one at a time in the order of their creation", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const texts = Array.from({ length: 10 }, (_, index) => `message ${index}`);
    const runIds: string[] = [];
    for (const text of texts) {
      const input = { messages: [human(text)] };
      const { run_id } = await client.runs.create(thread_id, "appender", { input });
      runIds.push(run_id);
    }
    const results = await Promise.all(runIds.map((id) => client.runs.join(thread_id, id)));
    const expected = texts.flatMap((text, index) => [text, `reply ${index + 1} to: ${text}`]);
    for (const [index, result] of results.entries()) {
      expect(textsOf((result as Values).messages)).toEqual(expected.slice(0, 2 * (index + 1)));
    }
    expect(await statusesOf(client, thread_id)).toEqual(
      runIds.toReversed().map((id) => [id, "success"]),
    );
    expect((await client.threads.get(thread_id)).values).toEqual(results.at(-1));
  });

  test("is the default", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const first = await slowRun(client, thread_id, "first");
    const second = await quickRun(client, thread_id, "second");
    expect(second.multitask_strategy).toBe("enqueue");
    await untilRunning(client, thread_id, first.run_id);
    expect(await statusesOf(client, thread_id)).toEqual([
      [second.run_id, "pending"],
      [first.run_id, "running"],
    ]);
    expect((await client.threads.get(thread_id)).status).toBe("busy");
    await client.runs.cancel(thread_id, first.run_id);
    expect(await client.runs.join(thread_id, second.run_id)).toMatchObject({ label: "second" });
  });

  test("loses no run when several are created at once", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const texts = Array.from({ length: 10 }, (_, index) => `message ${index}`);
    await Promise.all(
      texts.map((text) =>
        client.runs.wait(thread_id, "appender", { input: { messages: [human(text)] } }),
      ),
    );
    const { values } = await client.threads.get<Values & { turns: number }>(thread_id);
    const asked = textsOf(values.messages).filter((text) => text.startsWith("message"));
    expect(asked.toSorted()).toEqual(texts);
    expect(values.turns).toBe(10);
  });
});

describe("reject", () => {
  test("refuses the run, and stores nothing of it", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const running = await slowRun(client, thread_id, "first");
    await untilRunning(client, thread_id, running.run_id);
    const before = await client.threads.get(thread_id);
    for (const suffix of ["", "/stream", "/wait"]) {
      const body = { assistant_id: "appender", input: {}, multitask_strategy: "reject" };
      const path = `/threads/${thread_id}/runs${suffix}`;
      expect(await answerOf(send(server, "POST", path, body))).toEqual({
        status: 409,
        body: { detail: BUSY },
      });
    }
    expect(await client.threads.get(thread_id)).toEqual(before);
    expect(await statusesOf(client, thread_id)).toEqual([[running.run_id, "running"]]);
    await client.runs.cancel(thread_id, running.run_id, true);
  });

  test("refuses a run even while the other one is not due yet", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const options = { afterSeconds: 60 };
    const delayed = await quickRun(client, thread_id, "delayed", options);
    const reject = { multitaskStrategy: "reject" };
    await expect(quickRun(client, thread_id, "refused", reject)).rejects.toThrow("HTTP 409");
    await client.runs.cancel(thread_id, delayed.run_id, true);
    const { run_id } = await quickRun(client, thread_id, "taken", reject);
    expect(await client.runs.join(thread_id, run_id)).toMatchObject({ label: "taken" });
  });
});

describe("interrupt", () => {
  test("cancels the run in flight, and continues from its state", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const running = await runToSecondStep(client, thread_id, "first");
    const pending = await quickRun(client, thread_id, "pending");
    await untilRunning(client, thread_id, running.run_id);
    const { run_id } = await quickRun(client, thread_id, "last", {
      multitaskStrategy: "interrupt",
    });
    const { messages } = (await client.runs.join(thread_id, run_id)) as Partial<Values>;
    expect(textsOf(messages)).toEqual(["first step 1", "last step 1"]);
    const statuses = await statusesOf(client, thread_id);
    expect(statuses.slice(0, 3)).toEqual([
      [run_id, "success"],
      [pending.run_id, "interrupted"],
      [running.run_id, "interrupted"],
    ]);
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  test("lets a reader of the cancelled run reach its end", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const names: string[] = [];
    let last = "";
    const stream = client.runs.stream(thread_id, "forever", { input: {}, streamMode: "custom" });
    for await (const { event } of stream) {
      if (names.length === 2) {
        const options = { multitaskStrategy: "interrupt" };
        last = (await quickRun(client, thread_id, "last", options)).run_id;
      }
      names.push(event);
    }
    expect(new Set(names)).toEqual(new Set(["metadata", "custom"]));
    expect(await client.runs.join(thread_id, last)).toMatchObject({ label: "last" });
  });
});

describe("rollback", () => {
  test("removes a running run and starts from the state before it", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const first = await quickRun(client, thread_id, "kept");
    await client.runs.join(thread_id, first.run_id);
    const input = { label: "gone", steps: 3, delay_ms: 10_000 };
    const gone = await client.runs.create(thread_id, "slow", { input });
    await vi.waitFor(async () => {
      const { run_id } = gone;
      const history = await client.threads.getHistory(thread_id, { metadata: { run_id } });
      if (history[0]?.next[0] !== "step") throw new Error("It has not come that far");
    }, 60_000);
    const { run_id } = await quickRun(client, thread_id, "new", { multitaskStrategy: "rollback" });
    const { messages } = (await client.runs.join(thread_id, run_id)) as Partial<Values>;
    expect(textsOf(messages)).toEqual(["kept step 1", "new step 1"]);
    expect(await statusesOf(client, thread_id)).toEqual([
      [run_id, "success"],
      [first.run_id, "success"],
    ]);
    const history = await client.threads.getHistory(thread_id, { limit: 100 });
    const runs = new Set(history.map(({ metadata }) => metadata?.["run_id"]));
    expect(runs).toEqual(new Set([run_id, first.run_id]));
  });

  test("also removes pending runs", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    await slowRun(client, thread_id, "running");
    await quickRun(client, thread_id, "pending");
    await quickRun(client, thread_id, "delayed", { afterSeconds: 60 });
    const { run_id } = await quickRun(client, thread_id, "new", { multitaskStrategy: "rollback" });
    const { messages } = (await client.runs.join(thread_id, run_id)) as Partial<Values>;
    expect(textsOf(messages)).toEqual(["new step 1"]);
    expect(await statusesOf(client, thread_id)).toEqual([[run_id, "success"]]);
  });

  test("ends the stream of the removed run", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const names: string[] = [];
    const stream = client.runs.stream(thread_id, "forever", { input: {}, streamMode: "custom" });
    for await (const { event } of stream) {
      if (names.length === 2) {
        await quickRun(client, thread_id, "new", { multitaskStrategy: "rollback" });
      }
      names.push(event);
    }
    expect(new Set(names)).toEqual(new Set(["metadata", "custom"]));
  });
});
