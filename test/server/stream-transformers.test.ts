import { randomUUID } from "node:crypto";
import type { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { testWithServer } from "../support/server.ts";
import { eventsOf, lifecycleOf, openSocket, readEvents } from "../support/thread-events.ts";
import { collect } from "../support/tracing.ts";

const test = testWithServer();

const COUNTS = [
  { text: "one ", soFar: 4 },
  { text: "two ", soFar: 8 },
  { text: "three", soFar: 13 },
];

const FROM_BEGINNING = { lastEventId: "-1" };

const START = { assistant_id: "transformers", input: {} };

async function started(client: Client, assistantId: string, transport: "sse" | "websocket") {
  const thread = client.threads.stream(randomUUID(), { assistantId, transport });
  const { extensions } = thread;
  const counts = extensions["counts"];
  await thread.run.start({ input: {} });
  if (counts === undefined) throw new Error("The client has no extensions");
  return { thread, extensions, counts };
}

describe.for(["sse", "websocket"] as const)("the official client by %s", (transport) => {
  test("reads the values and the final values of transformers", async ({ client, expect }) => {
    const { thread, extensions, counts } = await started(client, "transformers", transport);
    expect(await collect(counts as AsyncIterable<unknown>)).toEqual(COUNTS);
    expect([await counts, await extensions["total"], await extensions["words"]]).toEqual([
      COUNTS.at(-1),
      13,
      ["one two three"],
    ]);
    await thread.output;
    await thread.close();
  });

  test("also reads them after the run has ended", async ({ client, expect }) => {
    const thread = client.threads.stream(randomUUID(), { assistantId: "transformers", transport });
    await thread.run.start({ input: {} });
    await thread.output;
    const total = thread.extensions["total"];
    expect(await total).toBe(13);
    const late = client.threads.stream(thread.threadId, { assistantId: "transformers", transport });
    expect(await late.extensions["counts"]).toEqual(COUNTS.at(-1));
    await thread.close();
    await late.close();
  });

  test("sees the run end although a transformer never does, with its values so far", async ({
    client,
    expect,
  }) => {
    const { thread, extensions } = await started(client, "transformers_patient", transport);
    expect([await extensions["soon"], await extensions["never"]]).toEqual([
      "told all the same",
      undefined,
    ]);
    const [run] = await client.runs.list(thread.threadId);
    await client.runs.join(thread.threadId, run?.run_id ?? "");
    expect((await client.runs.list(thread.threadId)).map(({ status }) => status)).toEqual([
      "success",
    ]);
    await thread.close();
  });
});

describe("readers of a thread", () => {
  test("see what transformers add, and not what they drop", async ({ server, client, expect }) => {
    const { thread_id } = await client.threads.create();
    await server.fetch(`/threads/${thread_id}/commands`, {
      method: "POST",
      body: JSON.stringify({ id: 1, method: "run.start", params: START }),
    });
    const channels = ["custom", "messages", "lifecycle", "values"];
    const all = await readEvents(server, thread_id, { channels }, 1);
    const node = all.find(({ method }) => method === "messages")?.params.namespace;
    const custom = all.filter(({ method }) => method === "custom");
    expect(custom.map(({ params }) => [params.namespace, params.data])).toEqual([
      [[], { name: "broken", payload: "heard 1" }],
      [expect.any(Array), { name: "broken", payload: "heard 2" }],
      [[], { payload: "public" }],
      [["helper:1"], { name: "helping", payload: { with: "words" } }],
      ...COUNTS.map((payload) => [node, { name: "counts", payload }]),
      [[], { name: "total", payload: 13 }],
      [[], { name: "words", payload: ["one two three"] }],
    ]);
    const deltas = eventsOf(all, "messages").flatMap((data) => {
      const { delta } = data as { delta?: { text: string } };
      return delta === undefined ? [] : [delta.text];
    });
    expect(deltas).toEqual(["one ", "three"]);
    const helper = all.filter(
      ({ method, params }) => method === "lifecycle" && params.namespace[0] === "helper:1",
    );
    const graph_name = "helper";
    expect(helper.map(({ params }) => params.data)).toEqual([
      { event: "started", graph_name, cause: { type: "toolCall", tool_call_id: "call_helper" } },
      { event: "completed", graph_name },
    ]);
    expect(lifecycleOf(all)).toEqual(["running", "completed"]);
    expect(all.at(-1)).toMatchObject({ method: "lifecycle", params: { namespace: [] } });

    const one = { channels: ["custom:counts", "lifecycle"] };
    const counts = await readEvents(server, thread_id, one, 1);
    expect(counts.filter(({ method }) => method === "custom")).toEqual(
      custom.filter(({ params }) => (params.data as { name?: string }).name === "counts"),
    );
    const since = counts.filter(({ method }) => method === "custom")[1]?.seq ?? 0;
    expect(eventsOf(await readEvents(server, thread_id, { ...one, since }, 1), "custom")).toEqual([
      { name: "counts", payload: COUNTS[2] },
    ]);
    await using socket = await openSocket(server, thread_id);
    await socket.command("subscription.subscribe", { channels, since: 0 });
    expect(await socket.untilEnded(1)).toEqual(all);
  });

  test("see a transformer's values of a failed run, and no final value", async ({
    server,
    client,
    expect,
  }) => {
    const { thread_id } = await client.threads.create();
    await using socket = await openSocket(server, thread_id);
    await socket.command("subscription.subscribe", { channels: ["custom", "lifecycle"] });
    await socket.command("run.start", { ...START, assistant_id: "transformers_failing" });
    const events = await socket.untilEnded(1);
    expect([eventsOf(events, "custom"), lifecycleOf(events)]).toEqual([
      [{ name: "counts", payload: { text: "it failed", soFar: 0 } }],
      ["running", "failed"],
    ]);
  });
});

describe("readers of a run's stream modes", () => {
  test("see the graph's events, and nothing of transformers", async ({
    server,
    client,
    expect,
  }) => {
    const { thread_id } = await client.threads.create();
    const answer = await server.fetch(`/threads/${thread_id}/commands`, {
      method: "POST",
      body: JSON.stringify({ id: 1, method: "run.start", params: START }),
    });
    const { result } = (await answer.json()) as { result: { run_id: string } };
    const joined: unknown[] = [];
    for await (const { event, data } of client.runs.joinStream(
      thread_id,
      result.run_id,
      FROM_BEGINNING,
    )) {
      if (/^(custom|protocol)/.test(event)) joined.push([event, data]);
    }
    const streamed: unknown[] = [];
    const stream = client.runs.stream(null, "transformers", { input: {}, streamMode: "custom" });
    for await (const { event, data } of stream) {
      if (event !== "metadata") streamed.push([event, data]);
    }
    const written = ["public", "secret"].map((text) => ["custom", text]);
    expect([joined, streamed]).toEqual([written, written]);
  });
});
