import { Client } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import { startBreakingProxy } from "../support/breaking-proxy.ts";
import { toAnswer } from "../support/http.ts";
import {
  collect,
  collectUntil,
  consecutiveIds,
  dataOf,
  idsOf,
  namesOf,
  readRaw,
  type RunEvent,
  toRunEvent,
} from "../support/run-events.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { newThread } from "../support/new-thread.ts";

const test = testWithServer();

const LARGE_EVENTS = 2000;
const LARGE_EVENT_CHARS = 10_000;

/** Starts a run that writes numbered custom events for a while. */
function writingRun(client: Client, threadId: string, options: object = {}) {
  return client.runs.create(threadId, "custom_stream", {
    input: { count: 20, size: 1, delay_ms: 20 },
    streamMode: "custom",
    ...options,
  });
}

function openStream(server: TestServer, threadId: string, body: object, signal?: AbortSignal) {
  return server.fetch(`/threads/${threadId}/runs/stream`, {
    method: "POST",
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function untilStatus(client: Client, threadId: string, runId: string, wanted: string) {
  await vi.waitFor(
    async () => {
      const { status } = await client.runs.get(threadId, runId);
      if (status !== wanted) throw new Error(`It is ${status}`);
    },
    { timeout: 150_000 },
  );
}

describe("readers of one run", () => {
  test("all get the same events", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await writingRun(client, thread_id, { streamResumable: true });
    const join = () => collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }));
    const [first, second] = await Promise.all([join(), join()]);
    expect(idsOf(first)).toEqual(consecutiveIds(21));
    expect(second).toEqual(first);
    expect(await join()).toEqual(first);
  });

  test("get only later events when they join without an id", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const stream = client.runs.stream(thread_id, "custom_stream", {
      // The run goes on until a reader that has joined has seen enough.
      input: { count: 100_000, size: 1, delay_ms: 100 },
      streamMode: "custom",
    });
    const joinAndCancel = async (): Promise<RunEvent[]> => {
      const [run] = await client.runs.list(thread_id);
      const events: RunEvent[] = [];
      for await (const event of client.runs.joinStream(thread_id, run?.run_id ?? "")) {
        events.push(toRunEvent(event));
        if (events.length === 3) await client.runs.cancel(thread_id, run?.run_id ?? "");
      }
      return events;
    };
    let joined: Promise<RunEvent[]> | undefined;
    const seen: RunEvent[] = [];
    for await (const event of stream) {
      seen.push(toRunEvent(event));
      if (seen.length === 5) joined = joinAndCancel();
    }
    const rest = (await joined) ?? [];
    expect(rest.length).toBeGreaterThanOrEqual(3);
    expect(rest.length).toBeLessThan(seen.length - 3);
    expect(rest).toEqual(seen.slice(-rest.length));
  });

  test("continue after the last event that they have", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await writingRun(client, thread_id, { streamResumable: true });
    const join = (lastEventId: string) =>
      collect(client.runs.joinStream(thread_id, run_id, { lastEventId }));
    expect(idsOf(await join("3"))).toEqual(consecutiveIds(21).slice(4));
    await untilStatus(client, thread_id, run_id, "success");
    expect(idsOf(await join("17"))).toEqual(["18", "19", "20"]);
    expect(idsOf(await join("-1"))).toEqual(consecutiveIds(21));
    expect(await join("20")).toEqual([]);
    expect(await join("999")).toEqual([]);
    expect(await join("nonsense")).toEqual([]);
  });

  test("get an ended run, without the events that were not resumable", async ({
    client,
    expect,
  }) => {
    const thread_id = await newThread(client);
    const { run_id } = await client.runs.create(thread_id, "branching", { input: {} });
    await client.runs.join(thread_id, run_id);
    const join = (lastEventId?: string) =>
      collect(client.runs.joinStream(thread_id, run_id, lastEventId ? { lastEventId } : {}));
    expect(await join()).toEqual([]);
    expect(await join("-1")).toEqual([]);
  });

  test("wait for a run that is still pending", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const { run_id: first } = await writingRun(client, thread_id);
    const { run_id } = await client.runs.create(thread_id, "branching", { input: {} });
    const events = await collect(client.runs.joinStream(thread_id, run_id));
    expect(namesOf(events)).toEqual(["metadata", "values", "values", "values"]);
    expect((await client.runs.get(thread_id, first)).status).toBe("success");
  });

  test("can select some of the run's modes", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await client.runs.create(thread_id, "branching", {
      input: {},
      streamMode: ["values", "updates"],
      streamResumable: true,
    });
    const join = (streamMode: "updates" | "values" | ("updates" | "values")[]) =>
      collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1", streamMode }));
    const updates = await join("updates");
    expect(namesOf(updates)).toEqual(["metadata", "updates", "updates", "updates"]);
    expect(idsOf(updates)).toEqual(["0", "1", "3", "5"]);
    expect(await join(["values", "updates"])).toHaveLength(7);
    const path = `/threads/${thread_id}/runs/${run_id}/stream`;
    const repeated = await server.fetch(`${path}?stream_mode=values&stream_mode=updates`, {
      headers: { "last-event-id": "-1" },
    });
    expect((await readRaw(repeated)).frames).toHaveLength(7);
    // The Python client sends this when its caller names no mode.
    const all = await server.fetch(`${path}?stream_mode=`, { headers: { "last-event-id": "-1" } });
    expect((await readRaw(all)).frames).toHaveLength(7);
    const wrong = await toAnswer(await server.fetch(`${path}?stream_mode=everything`));
    expect(wrong.status).toBe(422);
  });
});

describe("a connection that breaks", () => {
  test("is restored by the SDK, and no event is lost or repeated", async ({ server, expect }) => {
    const breaks = ["id: 4\n", "id: 9\n"];
    const proxy = await startBreakingProxy(server.url, (received, broken) => {
      const at = breaks[broken];
      return at !== undefined && received.includes(at);
    });
    try {
      const client = new Client({ apiUrl: proxy.url, apiKey: null });
      const thread_id = await newThread(client);
      const stream = client.runs.stream(thread_id, "custom_stream", {
        input: { count: 20, size: 1, delay_ms: 20 },
        streamMode: "custom",
        streamResumable: true,
      });
      expect(idsOf(await collect(stream))).toEqual(consecutiveIds(21));
      expect(proxy.broken()).toBe(breaks.length);
    } finally {
      await proxy.close();
    }
  });
});

describe("an idle reader", () => {
  /** Joins a run. Returns functions for the first chunk, which is a keep-alive, and for everything after it. */
  async function openJoin(server: TestServer, threadId: string, runId: string) {
    const response = await server.fetch(`/threads/${threadId}/runs/${runId}/join`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const read = async (): Promise<string | undefined> => (await reader?.read())?.value;
    const rest = async (): Promise<string> => {
      let text = "";
      for (let piece = await read(); piece !== undefined; piece = await read()) text += piece;
      return text;
    };
    return { first: read, rest };
  }

  test("is kept alive during a silent run", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const body = {
      assistant_id: "slow",
      input: { steps: 1, delay_ms: 60_000 },
      stream_mode: "updates",
    };
    const response = await openStream(server, thread_id, body);
    const run_id = (await client.runs.list(thread_id))[0]?.run_id ?? "";
    const join = await openJoin(server, thread_id, run_id);
    const { frames, comments } = await readRaw(response, (read) => read.comments.length > 0);
    expect(comments).toEqual(["heartbeat"]);
    expect(namesOf(frames)).toEqual(["metadata", "updates"]);
    expect(await join.first()).toMatch(/^\n+$/);
    await client.runs.cancel(thread_id, run_id);
    expect(JSON.parse(await join.rest())).toMatchObject({ done: 0 });
  });

  test("is kept alive while a run has only other events", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await client.runs.create(thread_id, "forever", {
      input: {},
      streamMode: ["custom", "updates"],
    });
    const join = await openJoin(server, thread_id, run_id);
    const path = `/threads/${thread_id}/runs/${run_id}/stream?stream_mode=updates`;
    const response = await server.fetch(path);
    const { comments } = await readRaw(response, (read) => read.comments.length > 0);
    expect(comments).toEqual(["heartbeat"]);
    expect(await join.first()).toMatch(/^\n+$/);
    await client.runs.cancel(thread_id, run_id);
    expect(JSON.parse(await join.rest())).toEqual({ started: true });
  });
});

describe("a client that disconnects", () => {
  test.for([
    ["cancel", "interrupted"],
    ["continue", "success"],
  ] as const)(
    "ends a streamed run with on_disconnect %s as %s",
    async ([on_disconnect, status], { client, server, expect }) => {
      const thread_id = await newThread(client);
      const leave = new AbortController();
      // A run that is to be cancelled does not end by itself.
      const count = status === "success" ? 40 : 100_000;
      const input = { count, size: 1, delay_ms: 150 };
      const body = { assistant_id: "custom_stream", input, stream_mode: "custom", on_disconnect };
      const response = await openStream(server, thread_id, body, leave.signal);
      await readRaw(response, ({ frames }) => frames.length > 3);
      leave.abort();
      const [run] = await client.runs.list(thread_id);
      await untilStatus(client, thread_id, run?.run_id ?? "", status);
      expect(await client.threads.get(thread_id)).toMatchObject({
        status: status === "success" ? "idle" : "interrupted",
      });
    },
  );

  test("cancels a run that it waits for", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const leave = new AbortController();
    const waiting = server.client();
    const wait = waiting.runs.wait(thread_id, "forever", { input: {}, signal: leave.signal });
    const waited = expect(wait).rejects.toThrow(/abort/i);
    await vi.waitFor(async () => {
      const [run] = await client.runs.list(thread_id);
      if (run?.status !== "running") throw new Error("It does not run yet");
    }, 60_000);
    leave.abort();
    await waited;
    const [run] = await client.runs.list(thread_id);
    await untilStatus(client, thread_id, run?.run_id ?? "", "interrupted");
  });

  test("does not cancel a run that it only joined, unless it said so", async ({
    client,
    server,
    expect,
  }) => {
    const thread_id = await newThread(client);
    const options = { input: {}, streamMode: "custom" } as const;
    const { run_id } = await client.runs.create(thread_id, "forever", options);
    const joinAndLeave = async (query: string) => {
      const leave = new AbortController();
      const path = `/threads/${thread_id}/runs/${run_id}/stream?${query}`;
      const response = await server.fetch(path, { signal: leave.signal });
      const { frames } = await readRaw(response, (read) => read.frames.length > 1);
      leave.abort();
      return namesOf(frames);
    };
    await joinAndLeave("");
    expect(await joinAndLeave("cancel_on_disconnect=false")).toContain("custom");
    await joinAndLeave("cancel_on_disconnect=true");
    await untilStatus(client, thread_id, run_id, "interrupted");
  });

  test("does not affect the remaining ones", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await writingRun(client, thread_id, { streamResumable: true });
    const join = () => client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" });
    const [stayed, left] = await Promise.all([
      collect(join()),
      collectUntil(join(), ({ id }) => id === "3"),
    ]);
    expect(idsOf(stayed)).toEqual(consecutiveIds(21));
    expect(idsOf(left)).toEqual(consecutiveIds(4));
  });
});

describe("a large stream", () => {
  const input = { count: LARGE_EVENTS, size: LARGE_EVENT_CHARS };

  test("arrives completely and in order", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const payload = { input, streamMode: "custom" } as const;
    const events = await collect(client.runs.stream(thread_id, "custom_stream", payload));
    expect(idsOf(events)).toEqual(consecutiveIds(LARGE_EVENTS + 1));
    const written = dataOf(events, "custom") as { index: number; text: string }[];
    expect(written.every(({ index }, position) => index === position)).toBe(true);
    const filling = "x".repeat(LARGE_EVENT_CHARS);
    expect(written.every(({ text }) => text.endsWith(filling))).toBe(true);
  });

  test("does not wait for a slow reader", async ({ client, server, expect }) => {
    const thread_id = await newThread(client);
    const body = { assistant_id: "custom_stream", input, stream_mode: "custom" };
    const response = await openStream(server, thread_id, body);
    const [run] = await client.runs.list(thread_id);
    await untilStatus(client, thread_id, run?.run_id ?? "", "success");
    const { frames } = await readRaw(response);
    expect(idsOf(frames)).toEqual(consecutiveIds(LARGE_EVENTS + 1));
  });

  test("can have events that are larger than a row of the database", async ({ client, expect }) => {
    const size = 5_000_000;
    const thread_id = await newThread(client);
    const payload = { input: { count: 2, size }, streamMode: "custom" } as const;
    const events = await collect(client.runs.stream(thread_id, "custom_stream", payload));
    const written = dataOf(events, "custom") as { index: number; text: string }[];
    expect(written.map(({ index, text }) => [index, text.length])).toEqual([
      [0, size + 7],
      [1, size + 7],
    ]);
  });
});
