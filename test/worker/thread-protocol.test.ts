import { evictDurableObject } from "cloudflare:test";
import { assert, beforeAll, describe, inject, test, vi } from "vitest";
import { upgradeRequest } from "../../src/agent-server/threads/protocol/connection.ts";
import { migrateIndex, newThread, type TestThread, textOf } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

type Told = { type: string; id?: number; seq: number; event_id: string; method: string };

const ALL = { channels: ["values", "lifecycle", "messages"] };
const RESUMABLE = { stream_mode: ["values" as const], stream_resumable: true };

async function connect(thread: TestThread) {
  const upgrade = upgradeRequest({
    thread_id: thread.id,
    caller: { scope: thread.scope, revision: null, principal: null },
    filter: null,
  });
  assert(upgrade !== null);
  const { webSocket } = await thread.object.fetch(upgrade);
  assert(webSocket !== null);
  const told: Told[] = [];
  webSocket.addEventListener("message", ({ data }) => {
    told.push(JSON.parse(String(data)));
  });
  webSocket.accept();
  return {
    told,
    send: (id: number, method: string, params: object) =>
      webSocket.send(JSON.stringify({ id, method, params })),
    events: () => told.filter(({ type }) => type === "event"),
    close: () => webSocket.close(),
  };
}

async function runToEnd(thread: TestThread): Promise<void> {
  const created = await thread.run("branching", { input: {}, ...RESUMABLE }, { follow: "result" });
  assert(created.ok);
  await textOf(created.value.stream);
}

const ended = (told: Told[]) =>
  told.filter(({ event_id }) => /^synth:.*:completed$/.test(event_id)).length;

/** Returns the events that a new reader gets, up to the end of `runs` runs. */
async function replayed(thread: TestThread, since: number, runs: number): Promise<Told[]> {
  const filter = { ...ALL, namespaces: null, depth: null };
  const opened = await thread.api.streamEvents(filter, since);
  assert(opened.ok);
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of opened.value) {
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split("\n").filter((line) => line.startsWith("data: "));
    const told = lines.map((line) => JSON.parse(line.slice(6)) as Told);
    if (ended(told) >= runs) return told;
  }
  throw new Error("The stream has ended");
}

describe("the events of a thread", () => {
  test("are the same, with the same numbers, after an eviction", async ({ expect }) => {
    const thread = newThread();
    await runToEnd(thread);
    const before = await replayed(thread, 0, 1);
    await evictDurableObject(thread.object);
    expect(await replayed(thread, 0, 1)).toEqual(before);
    await runToEnd(thread);
    const both = await replayed(thread, 0, 2);
    expect(both.slice(0, before.length)).toEqual(before);
    const last = before.at(-1)?.seq ?? 0;
    expect(both.slice(before.length).every(({ seq }) => seq > last)).toBe(true);
    expect(await replayed(thread, last, 1)).toEqual(both.slice(before.length));
  });

  test("have numbers that are not used again after a run is removed", async ({ expect }) => {
    const thread = newThread();
    await runToEnd(thread);
    const first = await replayed(thread, 0, 1);
    const [run] = first[0]?.event_id.split(":").slice(1) ?? [];
    expect(await thread.api.deleteRun(run ?? "")).toBe(true);
    await evictDurableObject(thread.object);
    await runToEnd(thread);
    const next = await replayed(thread, 0, 1);
    expect(next[0]?.seq).toBeGreaterThan(first.at(-1)?.seq ?? Infinity);
  });

  test("reach a WebSocket whose object was hibernating, each once", async ({ expect }) => {
    const thread = newThread();
    const socket = await connect(thread);
    const answers = () => socket.told.filter(({ type }) => type !== "event");
    socket.send(1, "subscription.subscribe", ALL);
    await runToEnd(thread);
    await vi.waitUntil(() => ended(socket.events()) === 1, 60_000);
    await evictDurableObject(thread.object);
    await runToEnd(thread);
    await vi.waitUntil(() => ended(socket.events()) === 2, 60_000);
    const ids = socket.events().map(({ event_id }) => event_id);
    expect(ids).toEqual((await replayed(thread, 0, 2)).map(({ event_id }) => event_id));
    await evictDurableObject(thread.object);
    socket.send(2, "run.start", { assistant_id: "branching", input: {} });
    await vi.waitUntil(() => answers().length === 2, 60_000);
    expect(answers()).toMatchObject([
      { type: "success", id: 1 },
      { type: "success", id: 2 },
    ]);
    await vi.waitUntil(() => ended(socket.events()) === 3, 60_000);
    socket.close();
  });

  test("do not reach a client without subscriptions, and are not stored", async ({ expect }) => {
    const thread = newThread();
    const socket = await connect(thread);
    socket.send(1, "state.get", {});
    await vi.waitUntil(() => socket.told.length === 1, 60_000);
    expect(socket.told).toMatchObject([{ type: "error", error: "no_such_run" }]);
    expect(await thread.api.get()).toBeNull();
    await runToEnd(thread);
    socket.send(2, "state.get", {});
    await vi.waitUntil(() => socket.told.length === 2, 60_000);
    expect(socket.events()).toEqual([]);
    socket.close();
  });
});
