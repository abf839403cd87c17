import { env } from "cloudflare:workers";
import { assert, test, vi } from "vitest";
import { exportQueue } from "../../src/bulk-export/work.ts";
import { consume as consumeBatch } from "../../src/work/queue.ts";

/** Consumes a message, and returns what happens to it. */
async function consume(body: unknown, bindings: Partial<Env>) {
  const ack = vi.fn();
  const retry = vi.fn();
  const batch: MessageBatch = {
    queue: "threadworks-export-steps",
    messages: [{ id: "message", timestamp: new Date(0), attempts: 1, body, ack, retry }],
    metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
    ackAll: vi.fn(),
    retryAll: vi.fn(),
  };
  const given = { ...env, LOG_LEVEL: "error", ...bindings };
  await consumeBatch(batch, [exportQueue], given, {} as Cloudflare.Exports);
  return { acks: ack.mock.calls, retries: retry.mock.calls };
}

const message = { workspaceId: crypto.randomUUID(), runId: crypto.randomUUID() };

test("a step that cannot reach D1 is repeated when its lease has expired", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const DB = new Proxy(env.DB, {
    get: () => {
      throw new Error("no database");
    },
  });

  const result = await consume(message, { DB, EXPORT_LIMITS: { lease_seconds: 30 } });

  assert.deepEqual(result, { acks: [], retries: [[{ delaySeconds: 31 }]] });
});

test("a message of another form is not repeated", async () => {
  for (const body of [null, "text", {}, { runId: message.runId }]) {
    assert.deepEqual(await consume(body, {}), { acks: [[]], retries: [] });
  }
});
