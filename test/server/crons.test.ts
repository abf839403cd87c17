import type { Client } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import { answerOf, send } from "../support/http.ts";
import type { TestServer } from "../support/server.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../support/uuid.ts";
import { makeWorkspace } from "../support/workspaces.ts";

const test = testInWorkspace();

/** No test runs at midnight of a new year. */
const YEARLY = "0 0 1 1 *";

type Crons = Client["crons"];

type CronJson = Record<string, unknown> & { cron_id: string };

/** Creates a cron. The SDK's type calls the result a run. */
async function create(crons: Crons, assistant: string, payload: Parameters<Crons["create"]>[1]) {
  return (await crons.create(assistant, payload)) as unknown as CronJson;
}

async function createOn(
  crons: Crons,
  threadId: string,
  payload: Parameters<Crons["createForThread"]>[2],
) {
  return (await crons.createForThread(threadId, "branching", payload)) as unknown as CronJson;
}

/** Makes the cron's tick due, and waits for the sweep of every minute to find it. */
async function tick(server: TestServer, { cron_id }: CronJson): Promise<void> {
  await server.database.run(
    `UPDATE crons SET next_run_at = 60000, due_at = 60000 WHERE cron_id = '${cron_id}'`,
  );
  await server.sweep();
}

describe("a cron", () => {
  test("is returned as it was created", async ({ client, expect }) => {
    const created = await create(client.crons, "branching", {
      schedule: YEARLY,
      timezone: "Europe/Berlin",
      input: { trail: ["in"] },
      metadata: { purpose: "test" },
      config: { tags: ["a"] },
      streamMode: "updates",
      endTime: "2200-01-01T00:00:00+01:00",
    });
    const year = new Date().getUTCFullYear();
    expect(created).toEqual({
      cron_id: expect.stringMatching(UUID),
      assistant_id: expect.stringMatching(UUID),
      thread_id: null,
      on_run_completed: "delete",
      end_time: "2199-12-31T23:00:00.000Z",
      schedule: YEARLY,
      timezone: "Europe/Berlin",
      created_at: expect.stringMatching(ISO_TIME),
      updated_at: expect.stringMatching(ISO_TIME),
      user_id: null,
      payload: { input: { trail: ["in"] }, config: { tags: ["a"] }, stream_mode: "updates" },
      next_run_date: `${year}-12-31T23:00:00.000Z`,
      metadata: { purpose: "test" },
      enabled: true,
    });
    expect(await client.crons.search({ metadata: { purpose: "test" } })).toEqual([created]);
  });

  test("makes a run on its thread at each tick", async ({ server, client, expect }) => {
    const { thread_id } = await client.threads.create();
    const cron = await createOn(client.crons, thread_id, {
      schedule: YEARLY,
      input: { trail: ["in"] },
      metadata: { purpose: "ticking" },
    });
    await tick(server, cron);
    const [run, ...others] = await client.runs.list(thread_id);
    expect(others).toEqual([]);
    expect(run?.metadata).toMatchObject({ purpose: "ticking", cron_id: cron.cron_id });
    await client.runs.join(thread_id, run?.run_id ?? "");
    await server.sweep();
    expect(await client.runs.list(thread_id)).toHaveLength(1);
    const [after] = await client.crons.search({ threadId: thread_id });
    expect(after?.next_run_date).toBe(cron["next_run_date"]);
  });

  test("makes a thread for each run if it has none, and keeps that on request", async ({
    server,
    client,
    expect,
  }) => {
    const made = { schedule: YEARLY, input: {}, metadata: { purpose: "its own" } };
    const cron = await create(client.crons, "branching", { ...made, onRunCompleted: "keep" });
    await tick(server, cron);
    const [thread] = await vi.waitFor(async () => {
      const found = await client.threads.search({ metadata: { cron_id: cron.cron_id } });
      expect(found).toHaveLength(1);
      return found;
    }, 60_000);
    const [run] = await client.runs.list(thread?.thread_id ?? "");
    expect(run?.run_id).toBe(thread?.thread_id);
  });

  test("makes no run while it is switched off", async ({ server, client, expect }) => {
    const { thread_id } = await client.threads.create();
    const cron = await createOn(client.crons, thread_id, { schedule: YEARLY, enabled: false });
    expect([cron["enabled"], cron["next_run_date"]]).toEqual([false, null]);
    await server.sweep();
    const on = await client.crons.update(cron.cron_id, { enabled: true });
    expect(on.next_run_date).toMatch(ISO_TIME);
    const off = await client.crons.update(cron.cron_id, { enabled: false });
    expect(off.next_run_date).toBe(null);
    expect(await client.runs.list(thread_id)).toEqual([]);
  });

  test("takes a graph's name for its default assistant", async ({ client, expect }) => {
    const [assistant] = await client.assistants.search({ graphId: "slow" });
    const cron = await create(client.crons, "slow", { schedule: YEARLY });
    expect(cron["assistant_id"]).toBe(assistant?.assistant_id);
    expect(await client.crons.count({ assistantId: assistant?.assistant_id ?? "" })).toBe(1);
  });
});

describe("a change of a cron", () => {
  test("merges metadata, and replaces the given fields", async ({ client, expect }) => {
    const cron = await create(client.crons, "branching", {
      schedule: YEARLY,
      input: { trail: ["in"] },
      metadata: { a: 1, b: 1 },
      endTime: "2200-01-01T00:00:00Z",
    });
    const changed = await client.crons.update(cron.cron_id, {
      schedule: "0 0 1 2 *",
      metadata: { b: 2 },
      streamMode: ["values"],
      endTime: null,
    });
    expect(changed).toEqual({
      ...cron,
      schedule: "0 0 1 2 *",
      end_time: null,
      metadata: { a: 1, b: 2 },
      payload: { input: { trail: ["in"] }, stream_mode: ["values"] },
      next_run_date: expect.stringMatching(/-02-01T00:00:00.000Z$/),
      updated_at: expect.stringMatching(ISO_TIME),
    });
  });

  test("leaves no tick if its end is now before the next one", async ({ client, expect }) => {
    const cron = await create(client.crons, "branching", { schedule: YEARLY });
    const ended = await client.crons.update(cron.cron_id, { endTime: "2001-01-01T00:00:00Z" });
    expect(ended.next_run_date).toBe(null);
    expect(ended.enabled).toBe(true);
  });

  test("makes no run after it is deleted", async ({ server, client, expect }) => {
    const { cron_id } = await create(client.crons, "branching", { schedule: YEARLY });
    expect(await answerOf(send(server, "DELETE", `/runs/crons/${cron_id}`))).toEqual({
      status: 200,
      body: {},
    });
    const gone = { status: 404, body: { detail: "Cron not found" } };
    for (const [method, body] of [["GET"], ["DELETE"], ["PATCH", {}]] as const) {
      expect(await answerOf(send(server, method, `/runs/crons/${cron_id}`, body))).toEqual(gone);
    }
  });
});

describe("a search for crons", () => {
  test("filters, sorts, pages and selects fields", async ({ server, client, expect }) => {
    const { thread_id } = await client.threads.create();
    const metadata = { purpose: "searching" };
    const first = await createOn(client.crons, thread_id, { schedule: "0 0 1 3 *", metadata });
    const second = await create(client.crons, "slow", { schedule: "0 0 1 2 *", metadata });
    const third = await create(client.crons, "slow", {
      schedule: YEARLY,
      metadata,
      enabled: false,
    });
    const search = async (query: object) => {
      const answer = await send(server, "POST", "/runs/crons/search", { metadata, ...query });
      return (answer.body as CronJson[]).map(({ cron_id }) => cron_id);
    };
    const [a, b, c] = [first.cron_id, second.cron_id, third.cron_id];
    expect(await search({})).toEqual([c, b, a]);
    expect(await search({ sort_by: "next_run_date", sort_order: "asc" })).toEqual(
      String(first["next_run_date"]) < String(second["next_run_date"]) ? [a, b, c] : [b, a, c],
    );
    expect(await search({ limit: 1, offset: 1 })).toEqual([b]);
    expect(await search({ thread_id })).toEqual([a]);
    expect(await search({ assistant_id: "slow" })).toEqual([c, b]);
    expect(await search({ enabled: false })).toEqual([c]);
    expect(await client.crons.count({ metadata })).toBe(3);
    const selected = await send(server, "POST", "/runs/crons/search", {
      thread_id,
      select: ["schedule", "now"],
    });
    expect(selected.body).toEqual([
      { schedule: "0 0 1 3 *", now: expect.stringMatching(ISO_TIME) },
    ]);
    expect(selected.headers.get("x-pagination-total")).toBe("1");
  });

  test("finds nothing of another workspace", async ({ server, client, expect }) => {
    const cron = await create(client.crons, "branching", { schedule: YEARLY });
    const { apiKey } = await makeWorkspace(server, "crons of another");
    const other = server.client({ apiKey });
    expect(await other.crons.search()).toEqual([]);
    expect(await other.crons.count()).toBe(0);
    await expect(other.crons.update(cron.cron_id, { enabled: false })).rejects.toThrow("HTTP 404");
    await expect(other.crons.delete(cron.cron_id)).rejects.toThrow("HTTP 404");
  });
});

describe("a cron is refused because of", () => {
  const made = { assistant_id: "branching", schedule: YEARLY };

  test.for([
    ["a schedule of six parts", { schedule: "0 0 0 1 1 *" }, "schedule", /five parts/],
    ["a schedule that never comes", { schedule: "0 0 31 6 *" }, "schedule", /no tick/],
    ["a schedule out of range", { schedule: "0 24 * * *" }, "schedule", /hour/],
    ["no schedule", { schedule: undefined }, "schedule", /required/],
    ["an unknown zone", { timezone: "Middle/Earth" }, "timezone", /IANA/],
    ["an end that is not a time", { end_time: "soon" }, "end_time", /datetime/],
    ["a webhook without a host", { webhook: "https:///" }, "webhook", /should be a URL/],
    ["an unknown end of runs", { on_run_completed: "archive" }, "on_run_completed", /delete/],
    ["an input that is too large", { input: "x".repeat(600_000) }, undefined, /at most 500000/],
  ] as const)("%s", async ([, change, field, msg], { server, expect }) => {
    const answer = await send(server, "POST", "/runs/crons", { ...made, ...change });
    const loc = field === undefined ? ["body"] : ["body", field];
    expect([answer.status, answer.body]).toEqual([
      422,
      { detail: [expect.objectContaining({ loc, msg: expect.stringMatching(msg) })] },
    ]);
  });

  test("a thread, an assistant or a cron that does not exist", async ({ server, expect }) => {
    const thread = await send(server, "POST", `/threads/${MISSING_ID}/runs/crons`, made);
    expect(thread.body).toEqual({ detail: `Thread with ID ${MISSING_ID} not found` });
    const body = { ...made, assistant_id: MISSING_ID };
    expect((await send(server, "POST", "/runs/crons", body)).status).toBe(404);
    expect((await send(server, "PATCH", `/runs/crons/${MISSING_ID}`, {})).status).toBe(404);
  });

  test("a thread that would be deleted with its run", async ({ server, client, expect }) => {
    const { thread_id } = await client.threads.create();
    const path = `/threads/${thread_id}/runs/crons`;
    const refused = await send(server, "POST", path, { ...made, on_run_completed: "delete" });
    expect(refused.status).toBe(422);
    const { cron_id } = await createOn(client.crons, thread_id, { schedule: YEARLY });
    const change = { on_run_completed: "delete" };
    expect((await send(server, "PATCH", `/runs/crons/${cron_id}`, change)).status).toBe(422);
  });
});
