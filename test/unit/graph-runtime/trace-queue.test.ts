import { afterEach, beforeEach, describe, test, vi } from "vitest";
import type { TraceBatch } from "../../../src/graph-runtime/protocol.ts";
import { TraceQueue } from "../../../src/graph-runtime/trace-queue.ts";
import { operationsOf } from "./support/traced-run.ts";

const MIB = 1024 * 1024;

function fixture() {
  const sent: TraceBatch[] = [];
  const arrivals: PromiseWithResolvers<void>[] = [];
  const queue = new TraceQueue((batch) => {
    sent.push(batch);
    const arrival = Promise.withResolvers<void>();
    arrivals.push(arrival);
    return arrival.promise;
  });
  /** Returns the ids of the creates and updates of each batch. */
  const ids = (): { post: unknown[]; patch: unknown[] }[] =>
    sent.map((batch) => {
      const { post, patch } = operationsOf(batch);
      return { post: post.map(({ id }) => id), patch: patch.map(({ id }) => id) };
    });
  const arrive = async (index: number): Promise<void> => {
    arrivals[index]?.resolve();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { sent, arrivals, queue, ids, arrive };
}

const run = (id: string, inputs: unknown = {}) => ({
  id,
  trace_id: "root",
  dotted_order: `t${id}`,
  name: `run ${id}`,
  run_type: "chain",
  start_time: 1,
  inputs,
});

const end = (outputs: unknown = {}) => ({ end_time: 2, outputs });

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("TraceQueue", () => {
  test("sends operations after 250 ms, in order", async ({ expect }) => {
    const { queue, ids } = fixture();
    queue.post(run("a"));
    await vi.advanceTimersByTimeAsync(200);
    queue.post(run("b"));
    await vi.advanceTimersByTimeAsync(49);
    expect(ids()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ids()).toEqual([{ post: ["a", "b"], patch: [] }]);
  });

  test("merges an end into its waiting start, or sends it alone later", async ({ expect }) => {
    const { queue, sent, arrive } = fixture();
    queue.post(run("a", { q: 1 }));
    queue.patch("a", end({ a: 2 }));
    queue.post(run("b"));
    await vi.advanceTimersByTimeAsync(250);
    await arrive(0);
    queue.patch("b", end({ b: 3 }));
    await vi.advanceTimersByTimeAsync(250);
    expect(sent.map(operationsOf)).toEqual([
      { post: [{ ...run("a", { q: 1 }), ...end({ a: 2 }) }, run("b")], patch: [] },
      { post: [], patch: [{ id: "b", ...end({ b: 3 }) }] },
    ]);
  });

  test("sends at once when 100 operations wait", ({ expect }) => {
    const { queue, ids } = fixture();
    for (let index = 0; index < 99; index += 1) queue.post(run(`r${index}`));
    expect(ids()).toEqual([]);
    queue.post(run("r99"));
    expect(ids()[0]?.post.length).toBe(100);
  });

  test("sends at once when a mebibyte waits", ({ expect }) => {
    const { queue, ids } = fixture();
    queue.post(run("a", { text: "x".repeat(MIB - 1000) }));
    expect(ids()).toEqual([]);
    queue.post(run("b", { text: "x".repeat(1000) }));
    // Operations that do not fit into the first batch wait for the next one.
    expect(ids()).toEqual([{ post: ["a"], patch: [] }]);
  });

  test("has one batch in flight, until the run ends", async ({ expect }) => {
    const { queue, ids, arrive } = fixture();
    queue.post({ ...run("a"), ...end() });
    await vi.advanceTimersByTimeAsync(250);
    for (let index = 0; index < 150; index += 1) queue.post(run(`r${index}`));
    await vi.advanceTimersByTimeAsync(1000);
    expect(ids().length).toBe(1);
    await arrive(0);
    expect(ids().map(({ post }) => post.length)).toEqual([1, 100]);
    for (let index = 0; index < 150; index += 1) queue.patch(`r${index}`, end());
    void queue.close();
    expect(ids().map(({ post, patch }) => post.length + patch.length)).toEqual([1, 100, 100, 50]);
  });

  test("is closed when everything has arrived, and accepts nothing afterwards", async ({
    expect,
  }) => {
    const { queue, sent, arrive } = fixture();
    queue.post({ ...run("a"), ...end() });
    let closed = false;
    const close = queue.close().then(() => (closed = true));
    await vi.advanceTimersByTimeAsync(0);
    expect([sent.length, closed]).toEqual([1, false]);
    await arrive(0);
    await close;
    queue.post(run("late"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent.length).toBe(1);
  });

  test("ends open runs when it is closed", async ({ expect }) => {
    const { queue, sent, arrive } = fixture();
    queue.post(run("a"));
    queue.post(run("b"));
    queue.patch("a", end());
    await vi.advanceTimersByTimeAsync(250);
    await arrive(0);
    void queue.close();
    const { inputs: _inputs, ...identity } = run("b");
    expect(sent.slice(1).map(operationsOf)).toEqual([
      {
        post: [],
        patch: [
          {
            ...identity,
            end_time: new Date().toISOString(),
            error: "It had not ended when its run did.",
          },
        ],
      },
    ]);
  });

  test("sends a run of an unknown type as a chain", ({ expect }) => {
    const { queue, sent } = fixture();
    queue.post({ ...run("a"), ...end(), run_type: "graph" });
    queue.post({ ...run("b"), ...end(), run_type: "retriever" });
    void queue.close();
    const posts = sent.flatMap((batch) => operationsOf(batch).post);
    expect(posts.map(({ run_type }) => run_type)).toEqual(["chain", "retriever"]);
  });

  test("keeps values as they were when they arrived", async ({ expect }) => {
    const { queue, sent } = fixture();
    const inputs = { list: [1] };
    queue.post(run("a", inputs));
    inputs.list.push(2);
    await vi.advanceTimersByTimeAsync(250);
    expect(sent.map(operationsOf)).toEqual([{ post: [run("a", { list: [1] })], patch: [] }]);
  });

  test("drops values, then whole operations, when the recorder does not answer", async ({
    expect,
  }) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const { queue, sent, arrivals, ids } = fixture();
    const inputs = { text: "x".repeat(MIB) };
    for (let index = 0; index < 12; index += 1) {
      queue.post({ ...run(`r${index}`, inputs), extra: { metadata: { index } } });
    }
    const tags = ["x".repeat(MIB)];
    for (let index = 0; index < 12; index += 1) queue.post({ ...run(`t${index}`), tags });
    const close = queue.close();
    const posts = sent.flatMap((batch) => operationsOf(batch).post);
    const waiting = sent.slice(1).reduce((chars, { json }) => chars + json.length, 0);
    expect(waiting).toBeLessThan(18 * MIB);
    const without = { not_recorded: "too much of its trace was waiting" };
    expect(posts.slice(0, 12).map((post) => post.inputs)).toEqual([
      ...Array.from({ length: 9 }, () => inputs),
      ...Array.from({ length: 3 }, () => without),
    ]);
    expect(posts[11]?.extra).toEqual({ metadata: { index: 11 } });
    expect(posts.length).toBe(20);
    // The updates of the lost runs are still sent.
    expect(new Set(ids().flatMap(({ patch }) => patch)).size).toBe(24);
    for (const { resolve } of arrivals) resolve();
    await close;
    expect(log.mock.calls).toEqual([
      [{ event: "trace_lost", operations: 4, error: "too much was waiting" }],
    ]);
  });

  test("omits a value that is too large, and keeps the run", async ({ expect }) => {
    const { queue, sent } = fixture();
    queue.post({
      ...run("a", { text: "x".repeat(6 * MIB) }),
      outputs: { text: "y".repeat(6 * MIB) },
    });
    queue.post({ ...run("b", { text: "x".repeat(9 * MIB) }), serialized: "x".repeat(9 * MIB) });
    void queue.close();
    const posts = sent.flatMap((batch) => operationsOf(batch).post);
    expect(posts.map(({ inputs, outputs }) => [Object.keys(inputs ?? {}), outputs])).toEqual([
      [["text"], { not_recorded: "the run is too large" }],
      [["not_recorded"], undefined],
    ]);
    expect(posts[1]).toMatchObject({
      inputs: { not_recorded: "larger than 8388608 characters" },
      name: "run b",
    });
    expect(posts[1]).not.toHaveProperty("serialized");
  });

  test("survives a failing recorder, and reports the losses", async ({ expect }) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const { queue, arrivals, ids } = fixture();
    queue.post({ ...run("a"), ...end() });
    await vi.advanceTimersByTimeAsync(250);
    arrivals[0]?.reject(new Error("the thread is gone"));
    await vi.advanceTimersByTimeAsync(0);
    queue.post({ ...run("b"), ...end() });
    const close = queue.close();
    arrivals[1]?.resolve();
    await close;
    expect(ids().map(({ post }) => post)).toEqual([["a"], ["b"]]);
    expect(log.mock.calls).toEqual([
      [{ event: "trace_lost", operations: 1, error: "Error: the thread is gone" }],
    ]);
  });
});
