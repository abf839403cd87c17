import type { Client } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testInWorkspace();

/** Creates a thread with a run that does not end by itself, and a run that waits behind it. */
async function busyThread(client: Client) {
  const { thread_id } = await client.threads.create();
  const running = await client.runs.create(thread_id, "forever", { input: {} });
  const pending = await client.runs.create(thread_id, "branching", { input: {} });
  await vi.waitFor(async () => {
    const { status } = await client.runs.get(thread_id, running.run_id);
    if (status !== "running") throw new Error(`The run is ${status}`);
  }, 60_000);
  return { thread_id, running: running.run_id, pending: pending.run_id };
}

/** Waits until only `inFlight` runs are in flight, and returns the statuses of these runs. */
async function settled(client: Client, threadId: string, inFlight: number) {
  return vi.waitFor(async () => {
    const runs = await client.runs.list(threadId);
    const statuses = new Map(runs.map(({ run_id, status }) => [run_id, status]));
    const going = runs.filter(({ status }) => ["pending", "running"].includes(status));
    if (going.length !== inFlight) throw new Error(`${going.length} runs are in flight`);
    return statuses;
  }, 60_000);
}

/** Waits until the index has this number of busy threads. */
async function busyThreads(client: Client, count: number): Promise<void> {
  await vi.waitFor(async () => {
    const found = await client.threads.count({ status: "busy" });
    if (found !== count) throw new Error(`${found} threads are busy`);
  }, 60_000);
}

describe("a batch of runs", () => {
  test("creates each as a stateless run, and answers in their order", async ({
    client,
    expect,
  }) => {
    const payloads = ["one", "two", "three"].map((name) => ({
      assistantId: "branching",
      input: { trail: [name] },
      metadata: { name },
    }));
    const runs = await client.runs.createBatch(payloads);
    expect(runs.map(({ metadata }) => metadata?.["name"])).toEqual(["one", "two", "three"]);
    expect(runs.map(({ thread_id }) => thread_id)).toEqual(runs.map(({ run_id }) => run_id));
    const ids = runs.map(({ run_id }) => run_id);
    expect(ids).toEqual(ids.toSorted());
  });

  test("keeps the threads of runs that request it", async ({ client, server, expect }) => {
    const body = ["a", "b"].map((name) => ({
      assistant_id: "branching",
      input: { trail: [name] },
      metadata: { batch: "kept" },
      on_completion: "keep",
    }));
    const { status, body: made } = await answerOf(send(server, "POST", "/runs/batch", body));
    expect(status).toBe(200);
    const runs = made as { thread_id: string; run_id: string }[];
    const values = await Promise.all(
      runs.map(({ thread_id, run_id }) => client.runs.join(thread_id, run_id)),
    );
    expect(await client.threads.count({ metadata: { batch: "kept" } })).toBe(2);
    expect(values).toEqual(
      ["a", "b"].map((name) => ({ counter: 3, trail: [name, "first", "second", "third"] })),
    );
  });

  test("creates no run if one of them is refused", async ({ client, server, expect }) => {
    const metadata = { batch: "refused" };
    const good = { assistant_id: "branching", input: {}, on_completion: "keep", metadata };
    const post = (body: unknown) => answerOf(send(server, "POST", "/runs/batch", body));
    const missing = await post([good, { assistant_id: MISSING_ID }]);
    expect([missing.status, missing.body]).toEqual([
      404,
      { detail: expect.stringContaining("No assistant found") },
    ]);
    expect(await post([good, { ...good, input: {}, multitask_strategy: "wrong" }])).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", 1, "multitask_strategy"] }] },
    });
    for (const body of [[], good, Array.from({ length: 101 }, () => good)]) {
      expect((await post(body)).status).toBe(422);
    }
    expect(await client.threads.count({ metadata })).toBe(0);
  });

  test("names the ignored fields of each run", async ({ server, expect }) => {
    const run = { assistant_id: "branching", input: {} };
    const answer = await send(server, "POST", "/runs/batch", [run, { ...run, streamMode: "x" }]);
    expect([answer.status, answer.headers.get("x-ignored-fields")]).toEqual([200, "[].streamMode"]);
  });
});

describe("cancelling several runs", () => {
  test("ends the named runs of a thread", async ({ client, expect }) => {
    const { thread_id, running, pending } = await busyThread(client);
    const last = await client.runs.create(thread_id, "branching", { input: {} });
    await client.runs.cancelMany({ threadId: thread_id, runIds: [running, pending, MISSING_ID] });
    const statuses = await settled(client, thread_id, 0);
    expect(Object.fromEntries(statuses)).toEqual({
      [running]: "interrupted",
      [pending]: "interrupted",
      [last.run_id]: "success",
    });
    // The runs have ended, which is no reason to refuse the request.
    await client.runs.cancelMany({ threadId: thread_id, runIds: [running] });
  });

  test("ends the runs with a status on every thread", async ({ client, expect }) => {
    const [first, second] = [await busyThread(client), await busyThread(client)];
    await busyThreads(client, 2);
    await client.runs.cancelMany({ status: "pending" });
    for (const { thread_id, running, pending } of [first, second]) {
      const statuses = await settled(client, thread_id, 1);
      expect([statuses.get(running), statuses.get(pending)]).toEqual(["running", "interrupted"]);
    }
    await client.runs.cancelMany({ status: "all" });
    for (const { thread_id, running } of [first, second]) {
      expect((await settled(client, thread_id, 0)).get(running)).toBe("interrupted");
    }
    await busyThreads(client, 0);
    await expect(client.runs.cancelMany({ status: "all" })).rejects.toThrow(
      'HTTP 404: {"detail":"No runs found to cancel"}',
    );
  });

  test("removes them when rolled back", async ({ client, expect }) => {
    const { thread_id, running, pending } = await busyThread(client);
    const runIds = [running, pending];
    await client.runs.cancelMany({ threadId: thread_id, runIds, action: "rollback" });
    expect(await settled(client, thread_id, 0)).toEqual(new Map());
    await expect(client.runs.cancelMany({ threadId: thread_id, runIds })).rejects.toThrow(
      "HTTP 404",
    );
  });

  test("needs either a status or ids", async ({ server, expect }) => {
    const named = { thread_id: MISSING_ID, run_ids: [MISSING_ID] };
    const run_ids = Array.from({ length: 1001 }, () => MISSING_ID);
    for (const [body, status] of [
      [{}, 422],
      [{ ...named, status: "all" }, 422],
      [{ thread_id: MISSING_ID }, 422],
      [{ ...named, run_ids: [] }, 422],
      [{ ...named, run_ids }, 422],
      [{ status: "success" }, 422],
      [{ ...named, status: null }, 404],
    ] as const) {
      expect([body, (await send(server, "POST", "/runs/cancel", body)).status]).toEqual([
        body,
        status,
      ]);
    }
    const answer = await send(server, "POST", "/runs/cancel?action=timeout", named);
    expect(answer.status).toBe(422);
  });
});
