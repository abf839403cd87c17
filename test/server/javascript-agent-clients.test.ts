import { RemoteGraph } from "@langchain/langgraph/remote";
import { describe } from "vitest";
import { SDKS } from "../support/javascript-clients.ts";
import { human, textsOf } from "../support/messages.ts";
import {
  collect,
  collectUntil,
  consecutiveIds,
  idsOf,
  namesOf,
  type RunEvent,
} from "../support/run-events.ts";
import { type RecordedFetch, recordedFetch } from "../support/recorded-fetch.ts";
import { testWithServer } from "../support/server.ts";
import { MISSING_ID, UUID } from "../support/uuid.ts";
import { newThread } from "../support/new-thread.ts";

const INPUT = { messages: [human("hi")] };
const ANSWER = ["hi", "Let me look that up", "HI", "The answer is HI"];
const TRAIL = { counter: 3, trail: ["first", "second", "third"] };

/** A network on which the first stream breaks after one chunk. */
function breakingFetch(): RecordedFetch {
  let isBroken = false;
  return recordedFetch(async (_, ask) => {
    const response = await ask();
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (isStream !== true || isBroken || response.body === null) return response;
    isBroken = true;
    let isFirst = true;
    const fail = (controller: TransformStreamDefaultController): void =>
      controller.error(new TypeError("terminated"));
    const breaking = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        if (isFirst) controller.enqueue(chunk);
        else fail(controller);
        isFirst = false;
      },
      flush: fail,
    });
    return new Response(response.body.pipeThrough(breaking), response);
  });
}

const requestsOf = ({ sent }: RecordedFetch): string[] =>
  sent.map(({ method, path }) => `${method} ${path}`);

const runIdOf = (event: RunEvent | undefined): string => {
  const { run_id } = (event?.data ?? {}) as { run_id?: string };
  return run_id ?? "";
};

const shared = testWithServer();

describe.for(SDKS)("$name", ({ name, Client }) => {
  const test = shared.override(
    "client",
    ({ server }) =>
      new Client({ apiUrl: server.url, apiKey: null, callerOptions: { maxRetries: 0 } }),
  );

  test("manages assistants and their versions", async ({ client, expect }) => {
    const created = await client.assistants.create({
      graphId: "agent",
      name: `of ${name}`,
      metadata: { made_by: name },
    });
    const { assistant_id } = created;
    expect(await client.assistants.get(assistant_id)).toEqual(created);
    const renamed = await client.assistants.update(assistant_id, { name: "renamed" });
    expect(renamed).toMatchObject({ name: "renamed", version: 2, metadata: { made_by: name } });
    const versions = await client.assistants.getVersions(assistant_id);
    expect(versions.map(({ version }) => version)).toEqual([2, 1]);
    await client.assistants.setLatest(assistant_id, 1);
    const ofThis = { metadata: { made_by: name } };
    expect(await client.assistants.search(ofThis)).toMatchObject([{ assistant_id, version: 1 }]);
    expect(await client.assistants.count(ofThis)).toBe(1);
    const { nodes } = await client.assistants.getGraph(assistant_id);
    expect(nodes.map(({ id }) => id)).toEqual(["__start__", "agent", "tool", "__end__"]);
    expect(await client.assistants.getSchemas(assistant_id)).toMatchObject({ graph_id: "agent" });
    const subgraphs = await client.assistants.getSubgraphs("nested", { recurse: true });
    expect(Object.keys(subgraphs)).toEqual(["child", "child|grandchild"]);
    await client.assistants.delete(assistant_id);
    await expect(client.assistants.get(assistant_id)).rejects.toMatchObject({ status: 404 });
  });

  test("manages threads", async ({ client, expect }) => {
    const metadata = { made_by: name };
    const { thread_id } = await client.threads.create({ metadata, graphId: "branching" });
    await client.threads.update(thread_id, { metadata: { more: true } });
    const all = { ...metadata, graph_id: "branching", more: true };
    expect(await client.threads.get(thread_id)).toMatchObject({ thread_id, metadata: all });
    const query = { metadata, status: "idle", sortBy: "created_at", sortOrder: "asc" } as const;
    expect(await client.threads.search({ ...query, select: ["thread_id", "metadata"] })).toEqual([
      { thread_id, metadata: all },
    ]);
    expect(await client.threads.count({ metadata })).toBe(1);
    await client.threads.delete(thread_id);
    await expect(client.threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
    expect(await client.threads.count({ metadata })).toBe(0);
  });

  test("creates a thread from another server's states", async ({ client, expect }) => {
    const updates = [{ values: { counter: 5, trail: ["elsewhere"] }, asNode: "first" }];
    const { thread_id } = await client.threads.create({
      graphId: "branching",
      supersteps: [{ updates }],
    });
    expect(await client.threads.getState(thread_id)).toMatchObject({
      values: { counter: 5, trail: ["elsewhere"] },
      next: ["second"],
    });
    const rest = await client.runs.wait(thread_id, "branching", { input: null });
    expect(rest).toEqual({ counter: 7, trail: ["elsewhere", "second", "third"] });
  });

  test("waits for runs, and reads and changes the state that they left", async ({
    client,
    expect,
  }) => {
    const thread_id = await newThread(client);
    expect(await client.runs.wait(thread_id, "branching", { input: {} })).toEqual(TRAIL);
    const state = await client.threads.getState(thread_id);
    expect(state).toMatchObject({ values: TRAIL, next: [] });
    const history = await client.threads.getHistory(thread_id);
    expect(history.map(({ next }) => next[0])).toEqual([
      undefined,
      "third",
      "second",
      "first",
      "__start__",
    ]);
    const [, , beforeSecond] = history;
    const id = beforeSecond?.checkpoint.checkpoint_id ?? "";
    expect(await client.threads.getState(thread_id, id)).toMatchObject({ next: ["second"] });
    const forked = await client.threads.updateState(thread_id, {
      values: { trail: ["forked"] },
      checkpointId: id,
      asNode: "first",
    });
    const { values, checkpoint } = await client.threads.getState(thread_id);
    expect(values).toMatchObject({ trail: ["first", "forked"] });
    expect(forked).toMatchObject({ checkpoint });
    const rest = await client.runs.wait(thread_id, "branching", { input: null });
    expect(rest).toMatchObject({ trail: ["first", "forked", "second", "third"] });
    const before = { configurable: { checkpoint_id: id } };
    const older = await client.threads.getHistory(thread_id, { limit: 1, before });
    expect(older.map(({ next }) => next[0])).toEqual(["first"]);
  });

  test("starts runs in the background, and joins them", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const run = await client.runs.create(thread_id, "agent", {
      input: INPUT,
      streamMode: ["messages-tuple", "updates"],
      streamResumable: true,
      metadata: { made_by: name },
    });
    const { run_id } = run;
    const values = (await client.runs.join(thread_id, run_id)) as { messages: unknown };
    expect(textsOf(values.messages)).toEqual(ANSWER);
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({
      run_id,
      status: "success",
      metadata: { made_by: name },
    });
    expect(await client.runs.list(thread_id)).toMatchObject([{ run_id }]);
    const joined = await collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }));
    expect(idsOf(joined)).toEqual(consecutiveIds(joined.length));
    expect(new Set(namesOf(joined))).toEqual(new Set(["metadata", "messages", "updates"]));
    const lastEventId = String(joined.length - 3);
    const rest = await collect(
      client.runs.joinStream(thread_id, run_id, { lastEventId, streamMode: "updates" }),
    );
    expect(rest).toEqual(joined.slice(-2).filter(({ event }) => event === "updates"));
    await client.runs.delete(thread_id, run_id);
    expect(await client.runs.list(thread_id)).toEqual([]);
  });

  test("joins a stream for modes that it does not show yet", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const { run_id } = await client.runs.create(thread_id, "branching", {
      input: {},
      streamMode: ["values"],
      streamResumable: true,
    });
    await client.runs.join(thread_id, run_id);
    const { checkpoint } = await client.threads.getState(thread_id);
    const joined = await collect(
      client.runs.joinStream(thread_id, run_id, {
        lastEventId: "-1",
        checkpointId: checkpoint.checkpoint_id ?? "",
        streamNamespaces: [""],
      }),
    );
    expect(joined.at(-1)?.data).toEqual(TRAIL);
  });

  test("streams runs, and receives a run's id at once", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const created: unknown[] = [];
    const events = await collect(
      client.runs.stream(thread_id, "agent", {
        input: INPUT,
        streamMode: ["values", "messages-tuple", "custom", "updates", "tasks"],
        onRunCreated: (run) => created.push(run),
      }),
    );
    const run_id = runIdOf(events[0]);
    expect(created).toEqual([{ run_id, thread_id }]);
    expect(idsOf(events)).toEqual(consecutiveIds(events.length));
    expect(events.at(-1)?.event).toBe("values");
    const last = events.at(-1)?.data as { messages: unknown } | undefined;
    expect(textsOf(last?.messages)).toEqual(ANSWER);
    expect(await client.threads.getState(thread_id)).toMatchObject({
      values: last,
    });
  });

  test("resumes a broken stream", async ({ server, expect }) => {
    const network = breakingFetch();
    const client = new Client({
      apiUrl: server.url,
      apiKey: null,
      callerOptions: { fetch: network.fetch },
    });
    const thread_id = await newThread(client);
    const events = await collect(
      client.runs.stream(thread_id, "slow", {
        input: { steps: 4, delay_ms: 100 },
        streamMode: "updates",
        streamResumable: true,
      }),
    );
    // The ids cover `metadata`, the node `begin`, and the steps.
    expect(idsOf(events)).toEqual(consecutiveIds(6));
    const run_id = runIdOf(events[0]);
    const stream = `/threads/${thread_id}/runs/${run_id}/stream`;
    expect(requestsOf(network).filter((sent) => sent === `GET ${stream}`)).toHaveLength(1);
  });

  test("runs without a thread", async ({ client, expect }) => {
    expect(await client.runs.wait(null, "branching", { input: {} })).toEqual(TRAIL);
    const created: unknown[] = [];
    const events = await collect(
      client.runs.stream(null, "branching", {
        input: {},
        onRunCreated: (run) => created.push(run),
      }),
    );
    expect(events.at(-1)).toEqual({ id: "3", event: "values", data: TRAIL });
    expect(created).toEqual([{ run_id: expect.stringMatching(UUID), thread_id: undefined }]);
  });

  test("cancels runs, and rolls them back", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const first = await client.runs.create(thread_id, "forever", {
      input: {},
      streamMode: "custom",
    });
    const stream = client.runs.joinStream(thread_id, first.run_id, { lastEventId: "-1" });
    await collectUntil(stream, ({ event }) => event === "custom");
    await client.runs.cancel(thread_id, first.run_id, true);
    expect(await client.runs.get(thread_id, first.run_id)).toMatchObject({
      status: "interrupted",
    });
    const second = await client.runs.create(thread_id, "forever", { input: {} });
    await client.runs.cancel(thread_id, second.run_id, true, "rollback");
    expect(await client.runs.list(thread_id)).toMatchObject([{ run_id: first.run_id }]);
  });

  test("answers interrupts", async ({ client, expect }) => {
    const thread_id = await newThread(client);
    const asked = await client.runs.wait(thread_id, "interrupts", { input: { mode: "twice" } });
    expect(asked).toMatchObject({ __interrupt__: [{ value: { question: "first" } }] });
    const { tasks } = await client.threads.getState(thread_id);
    expect(tasks[0]?.interrupts).toMatchObject([{ value: { question: "first" } }]);
    const resume = async (answer: string) =>
      client.runs.wait(thread_id, "interrupts", { command: { resume: answer } });
    expect(await resume("one")).toMatchObject({
      __interrupt__: [{ value: { question: "second", first: "one" } }],
    });
    expect(await resume("two")).toMatchObject({
      answers: { first: "one", second: "two" },
      finished: true,
    });
  });

  test("does not retry refused requests", async ({ server, expect }) => {
    const network = recordedFetch();
    const client = new Client({
      apiUrl: server.url,
      apiKey: null,
      callerOptions: { fetch: network.fetch },
    });
    await expect(client.threads.get(MISSING_ID)).rejects.toMatchObject({ status: 404 });
    expect(requestsOf(network)).toEqual([`GET /threads/${MISSING_ID}`]);
    const thread_id = await newThread(client);
    const { run_id } = await client.runs.create(thread_id, "forever", { input: {} });
    network.sent.length = 0;
    const rejected = client.runs.create(thread_id, "forever", {
      input: {},
      multitaskStrategy: "reject",
    });
    await expect(rejected).rejects.toMatchObject({ status: 409 });
    await expect(client.runs.wait(thread_id, "nothing")).rejects.toMatchObject({ status: 404 });
    const failing = client.runs.wait(null, "throws", { input: { message: "no such luck" } });
    await expect(failing).rejects.toThrow("FixtureError: no such luck");
    expect(requestsOf(network)).toEqual([
      `POST /threads/${thread_id}/runs`,
      `POST /threads/${thread_id}/runs/wait`,
      "POST /runs/wait",
    ]);
    await client.runs.cancel(thread_id, run_id, true);
  });

  test("uses a graph of the server like a local one", async ({ client, expect }) => {
    const graph = new RemoteGraph({ graphId: "branching", client });
    expect(await graph.invoke({})).toEqual(TRAIL);
    const config = { configurable: { thread_id: await newThread(client) } };
    const chunks = [];
    for await (const chunk of await graph.stream({}, { ...config, streamMode: "updates" })) {
      chunks.push(chunk);
    }
    expect(chunks).toEqual(TRAIL.trail.map((node) => ({ [node]: { counter: 1, trail: [node] } })));
    expect(await graph.getState(config)).toMatchObject({ values: TRAIL, next: [] });
    await graph.updateState(config, { trail: ["changed"] }, "third");
    expect(await graph.getState(config)).toMatchObject({
      values: { trail: [...TRAIL.trail, "changed"] },
    });
    const { nodes } = await graph.getGraphAsync();
    expect(Object.keys(nodes)).toEqual(["__start__", "first", "second", "third", "__end__"]);
  });
});
