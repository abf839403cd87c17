import { describe, vi } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testInWorkspace();

describe("a copy of a thread", () => {
  test("has its state, history and metadata, and no runs", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create({ metadata: { owner: "me" } });
    await client.runs.wait(thread_id, "branching", { input: { trail: ["in"] } });
    const source = await client.threads.get(thread_id);
    const copy = await client.threads.copy(thread_id);
    expect(copy.thread_id).not.toBe(thread_id);
    expect(copy).toEqual({
      ...source,
      thread_id: copy.thread_id,
      created_at: copy.created_at,
      updated_at: copy.updated_at,
      state_updated_at: copy.state_updated_at,
      metadata: { ...source.metadata, thread_id: copy.thread_id },
      config: {},
    });
    expect(await client.threads.get(copy.thread_id)).toEqual(copy);
    expect(await client.runs.list(copy.thread_id)).toEqual([]);
    const [found] = await client.threads.search({ ids: [copy.thread_id] });
    expect(found).toEqual(copy);
    const history = await client.threads.getHistory(thread_id);
    const renamed = JSON.stringify(history).replaceAll(thread_id, copy.thread_id);
    expect(history.length).toBeGreaterThan(3);
    expect(await client.threads.getHistory(copy.thread_id)).toEqual(JSON.parse(renamed));
  });

  test("continues independently", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "branching", { input: { trail: ["in"] } });
    const before = await client.threads.getState(thread_id);
    const { thread_id: copyId } = await client.threads.copy(thread_id);
    const steps = ["first", "second", "third"];
    const values = await client.runs.wait(copyId, "branching", { input: { trail: ["again"] } });
    expect(values).toMatchObject({ trail: ["in", ...steps, "again", ...steps] });
    expect(await client.threads.getState(thread_id)).toEqual(before);
    // The initial state of the copy belongs to no run, so a rollback leads back to it.
    const [run] = await client.runs.list(copyId);
    await client.runs.delete(copyId, run?.run_id ?? "");
    expect((await client.threads.getState(copyId)).values).toEqual(before.values);
    await client.threads.delete(thread_id);
    expect((await client.threads.getState(copyId)).values).toEqual(before.values);
  });

  test("stops at the same interrupt, and can be resumed", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "interrupts", { input: {} });
    const source = await client.threads.get(thread_id);
    const copy = await client.threads.copy(thread_id);
    expect([copy.status, copy.interrupts]).toEqual(["interrupted", source.interrupts]);
    const resume = { command: { resume: "yes" } };
    const resumed = await client.runs.wait(copy.thread_id, "interrupts", resume);
    expect(resumed).toEqual(await client.runs.wait(thread_id, "interrupts", resume));
  });

  test("is idle, whatever runs on the original thread", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "forever", { input: {} });
    await vi.waitFor(async () => {
      const { status } = await client.runs.get(thread_id, run_id);
      if (status !== "running") throw new Error(`The run is ${status}`);
    }, 60_000);
    const copy = await client.threads.copy(thread_id);
    expect([copy.status, await client.runs.list(copy.thread_id)]).toEqual(["idle", []]);
    await client.runs.cancel(thread_id, run_id, true);
  });

  test("is empty if the original thread is", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const copy = await client.threads.copy(thread_id);
    expect([copy.status, copy.values]).toEqual(["idle", null]);
    expect(await client.threads.getHistory(copy.thread_id)).toEqual([]);
  });

  test("is refused if the original thread does not exist or is too large", async ({
    client,
    server,
    expect,
  }) => {
    const copy = (id: string) => answerOf(send(server, "POST", `/threads/${id}/copy`));
    expect(await copy(MISSING_ID)).toEqual({
      status: 409,
      body: { detail: "Thread not found" },
    });
    const metadata = { copied: "too large" };
    const { thread_id } = await client.threads.create({ graphId: "branching", metadata });
    for (let written = 0; written < 3; written += 1) {
      const values = { trail: ["x".repeat(4_000_000)] };
      await client.threads.updateState(thread_id, { values, asNode: "first" });
    }
    expect(await copy(thread_id)).toEqual({
      status: 413,
      body: {
        detail: "The thread has more than 16 MB or 20,000 rows of checkpoints: it cannot be copied",
      },
    });
    expect(await client.threads.count({ metadata })).toBe(1);
  });
});
