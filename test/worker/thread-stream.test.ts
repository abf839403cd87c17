import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { assert, beforeAll, describe, inject, test, vi } from "vitest";
import type { ThreadStreamQuery } from "../../src/agent-server/threads/contract/thread-requests.ts";
import { migrateIndex, newThread, rowsIn, textOf, type TestThread } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

type Event = { id: string; event: string; data: Record<string, unknown> };

/** Reads events as they come; `next` resolves with the given number of them. */
class Follower {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  async next(count: number): Promise<Event[]> {
    const events: Event[] = [];
    while (events.length < count) {
      const end = this.#text.indexOf("\n\n");
      if (end < 0) {
        const { done, value } = await this.#reader.read();
        if (done) throw new Error(`The stream has ended after ${JSON.stringify(events)}`);
        this.#text += new TextDecoder().decode(value);
        continue;
      }
      events.push(parse(this.#text.slice(0, end)));
      this.#text = this.#text.slice(end + 2);
    }
    return events;
  }

  async until(isLast: (event: Event) => boolean): Promise<Event[]> {
    const events: Event[] = [];
    for (;;) {
      const [event] = await this.next(1);
      assert(event);
      events.push(event);
      if (isLast(event)) return events;
    }
  }

  async leave(): Promise<void> {
    await this.#reader.cancel();
  }
}

function parse(text: string): Event {
  const lines = text.split("\n").filter((line) => !line.startsWith(":"));
  const field = (name: string): string =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
  return { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
}

async function follow(
  thread: TestThread,
  query: Partial<ThreadStreamQuery> = {},
): Promise<Follower> {
  const opened = await thread.api.streamThread({
    last_event_id: null,
    modes: ["run_modes"],
    ...query,
  });
  assert(opened.ok);
  return new Follower(opened.value);
}

async function create(thread: TestThread): Promise<void> {
  const { scope, id } = thread;
  await thread.api.create({ scope, thread_id: id, metadata: {}, if_exists: "raise" });
}

async function finish(thread: TestThread): Promise<string> {
  const created = await thread.run("branching", { input: {} }, { follow: "result" });
  assert(created.ok);
  await textOf(created.value.stream);
  return created.value.run.run_id;
}

const isDone = ({ data }: Event): boolean => data["status"] === "run_done";

async function rows(thread: TestThread, table: string): Promise<number> {
  return runInDurableObject(thread.object, (_, { storage }) => rowsIn(storage.sql, table));
}

describe("a client that follows a thread", () => {
  test("gets each run from its beginning to its end, one after the other", async ({ expect }) => {
    const thread = newThread();
    await create(thread);
    const follower = await follow(thread);
    const runs = [await finish(thread), await finish(thread)];
    for (const [index, run_id] of runs.entries()) {
      const events = await follower.until(isDone);
      const names = events.slice(1, -1).map(({ event }) => event);
      expect(names).toEqual(["values", "values", "values"]);
      expect(events[0]?.data).toEqual({ run_id, attempt: 1 });
      expect(events.at(-1)?.data).toEqual({ status: "run_done", run_id, run_status: "success" });
      expect(events.map(({ id }) => id)).toEqual(events.map((_, event) => `${index + 1}-${event}`));
    }
    await follower.leave();
  });

  test("continues after its last event, in the middle of a run or after it", async ({ expect }) => {
    const thread = newThread();
    await create(thread);
    const follower = await follow(thread);
    await finish(thread);
    const first = await follower.until(isDone);
    await follower.leave();
    await finish(thread);
    for (const event of [1, 3, 4]) {
      const again = await follow(thread, { last_event_id: { turn: 1, event } });
      const rest = first.slice(event + 1);
      expect(await again.next(rest.length)).toEqual(rest);
      expect((await again.until(isDone)).map(({ id }) => id)[0]).toBe("2-0");
      await again.leave();
    }
  });

  test("gets the run of a dead process again", async ({ expect }) => {
    const thread = newThread();
    await create(thread);
    const follower = await follow(thread);
    await finish(thread);
    const events = await follower.until(isDone);
    await follower.leave();
    await evictDurableObject(thread.object);
    await finish(thread);
    const again = await follow(thread, { last_event_id: "beginning" });
    expect(await again.until(isDone)).toEqual(events);
    expect((await again.until(isDone))[0]?.id).toBe("2-0");
    await again.leave();
  });

  test("can get only beginnings and ends, or only updates", async ({ expect }) => {
    const thread = newThread();
    await create(thread);
    const life = await follow(thread, { modes: ["lifecycle"] });
    const updates = await follow(thread, { modes: ["state_update"] });
    const run_id = await finish(thread);
    const request = { revision_id: null, checkpoint: null, graph_id: null };
    const supersteps = [[{ values: { trail: ["outside"] }, as_node: "third" }]];
    const updated = await thread.api.updateState({ ...request, supersteps });
    assert(updated.ok);
    await finish(thread);
    expect((await life.next(3)).map(({ data }) => data["run_id"]).slice(0, 2)).toEqual([
      run_id,
      run_id,
    ]);
    const [update] = await updates.next(1);
    expect(update).toEqual({
      id: "2-0",
      event: "state_update",
      data: {
        thread_id: thread.id,
        state: {
          values: { counter: 3, trail: ["first", "second", "third", "outside"] },
          next: [],
          checkpoint: updated.value,
          interrupts: {},
        },
      },
    });
    for (const follower of [life, updates]) await follower.leave();
  });

  test("gets only later events if it joins without a position", async ({ expect }) => {
    const thread = newThread();
    await create(thread);
    const first = await follow(thread);
    await finish(thread);
    await first.until(isDone);
    const second = await follow(thread);
    const run_id = await finish(thread);
    const [begin] = await second.next(1);
    expect([begin?.id, begin?.data]).toEqual(["2-0", { run_id, attempt: 1 }]);
    for (const follower of [first, second]) await follower.leave();
  });

  test("is disconnected if it never reads, without cost for others", async ({ expect }) => {
    const thread = newThread();
    await create(thread);
    const idle = await follow(thread);
    const busy = await follow(thread);
    await finish(thread);
    await busy.until(isDone);
    // This looks as if a hundred more runs had come, and the first one's events had expired.
    await runInDurableObject(thread.object, (_, { storage }) => {
      storage.sql.exec("UPDATE sqlite_sequence SET seq = 200 WHERE name = 'turns'");
      storage.sql.exec("UPDATE runs SET expires_at = 1");
    });
    await finish(thread);
    await runDurableObjectAlarm(thread.object);
    expect((await busy.until(isDone).catch(String)) as unknown).toContain("has ended");
    await expect(idle.next(100)).rejects.toThrow("has ended");
  });

  test("is disconnected when the thread is deleted", async ({ expect }) => {
    const thread = newThread();
    await create(thread);
    const follower = await follow(thread);
    await thread.api.remove();
    await expect(follower.next(1)).rejects.toThrow("has ended");
  });
});

describe("the stored turns of a thread", () => {
  test("are none while no client follows", async ({ expect }) => {
    const thread = newThread();
    await create(thread);
    await finish(thread);
    expect([await rows(thread, "turns"), await rows(thread, "events")]).toEqual([0, 0]);
  });

  test("are deleted when no client has come back within their retention, and no id is used twice", async ({
    expect,
  }) => {
    const thread = newThread();
    await create(thread);
    const follower = await follow(thread);
    await finish(thread);
    await follower.until(isDone);
    await follower.leave();
    await runInDurableObject(thread.object, (_, { storage }) =>
      storage.sql.exec("UPDATE runs SET expires_at = 1"),
    );
    await runDurableObjectAlarm(thread.object);
    await vi.waitFor(
      async () =>
        expect([await rows(thread, "turns"), await rows(thread, "events")]).toEqual([0, 0]),
      { timeout: 150_000, interval: 20 },
    );
    const again = await follow(thread, { last_event_id: { turn: 1, event: 2 } });
    await finish(thread);
    expect((await again.next(1))[0]?.id).toBe("2-0");
    await again.leave();
  });

  test("do not exist for a thread that does not", async ({ expect }) => {
    const query = { last_event_id: null, modes: ["run_modes"] } as const;
    expect(await newThread().api.streamThread(query)).toEqual({
      ok: false,
      code: "thread_not_found",
    });
  });
});
