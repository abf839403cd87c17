import { env } from "cloudflare:workers";
import { afterEach, test, vi } from "vitest";
import { z } from "zod";
import { consume, nudge, queueHandler } from "../../src/work/queue.ts";

afterEach(() => vi.restoreAllMocks());

const EXPORTS = {} as Cloudflare.Exports;

function batchOf(queue: string, bodies: unknown[]) {
  const messages = bodies.map((body, index) => ({
    id: String(index),
    timestamp: new Date(0),
    attempts: 1,
    body,
    ack: vi.fn<() => void>(),
    retry: vi.fn<() => void>(),
  }));
  const batch: MessageBatch = {
    queue,
    messages,
    metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
    ackAll: vi.fn<() => void>(),
    retryAll: vi.fn<() => void>(),
  };
  return { batch, messages };
}

/** Returns a handler whose rows are numbers; those below zero cannot be handled. */
function handlerOf(queue: string, looked: number[]) {
  return queueHandler({
    queue,
    message: z.object({ row: z.number() }),
    look: async ({ row }) => {
      if (row < 0) throw new Error("no database");
      looked.push(row);
    },
    retrySeconds: () => 31,
  });
}

test("each message is handled by the handler of its queue, in any environment", async ({
  expect,
}) => {
  const [one, two]: [number[], number[]] = [[], []];
  const { batch, messages } = batchOf("second-eu", [{ row: 1 }, { row: 2 }, "nothing"]);
  await consume(batch, [handlerOf("first", one), handlerOf("second", two)], env, EXPORTS);
  expect([one, two]).toEqual([[], [1, 2]]);
  for (const { ack, retry } of messages) {
    expect(ack).toHaveBeenCalledOnce();
    expect(retry).not.toHaveBeenCalled();
  }
});

test("a row that cannot be handled is retried, and does not block others", async ({ expect }) => {
  vi.spyOn(console, "error").mockReturnValue();
  const looked: number[] = [];
  const { batch, messages } = batchOf("first", [{ row: -1 }, { row: 2 }]);
  await consume(batch, [handlerOf("first", looked)], env, EXPORTS);
  expect(looked).toEqual([2]);
  expect(messages[0]?.ack).not.toHaveBeenCalled();
  expect(messages[0]?.retry).toHaveBeenCalledWith({ delaySeconds: 31 });
  expect(messages[1]?.ack).toHaveBeenCalledOnce();
});

test("a queue without a handler is not emptied", async ({ expect }) => {
  const { batch } = batchOf("third", [{ row: 1 }]);
  await expect(consume(batch, [handlerOf("first", [])], env, EXPORTS)).rejects.toThrow(
    "No handler is registered for the queue third",
  );
});

test("many rows are sent in calls of a hundred, and a failing call loses no other", async ({
  expect,
}) => {
  const warned = vi.spyOn(console, "warn").mockReturnValue();
  const sent: unknown[][] = [];
  const sendBatch = vi.fn<Queue["sendBatch"]>(async (messages) => {
    const bodies = [...messages].map(({ body, delaySeconds }) => [body, delaySeconds]);
    sent.push(bodies);
    if (sent.length === 1) throw new Error("the queue is full");
    return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
  });
  const rows = Array.from({ length: 250 }, (_, row) => ({ row }));
  await nudge({ LOG_LEVEL: "warn" }, { sendBatch } as unknown as Queue, rows, 1500);
  expect(sent.map((bodies) => bodies.length)).toEqual([100, 100, 50]);
  expect(sent.flat()).toEqual(rows.map((row) => [row, 2]));
  expect(warned.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
    { event: "nudge_lost", messages: 100 },
  ]);
});
