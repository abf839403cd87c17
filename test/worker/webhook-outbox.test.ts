import { runInDurableObject } from "cloudflare:test";
import { assert, beforeAll, describe, inject, test, vi } from "vitest";
import { ThreadStorage } from "../../src/agent-server/threads/storage/thread-storage.ts";
import type { WebhookRecord } from "../../src/agent-server/threads/contract/thread-json.ts";
import {
  type OutgoingWebhook,
  RETRY_DELAYS_MS,
  WebhookOutbox,
} from "../../src/agent-server/threads/webhooks/webhook-outbox.ts";
import { migrateIndex, newThread } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const HOUR_MS = 3_600_000;
const ATTEMPT_LIMIT_MS = 20_000;
const BOUND = { timeout: 150_000, interval: 1 };

type Answer = { error: string; isFinal: boolean } | null;

/** Receivers and a clock, which survive an outbox over the same storage. */
class World {
  readonly storage: ThreadStorage;
  readonly sent: OutgoingWebhook[] = [];
  readonly givenUp: WebhookRecord[] = [];
  ended = 0;
  now = Date.now();
  answer: (outgoing: OutgoingWebhook) => Promise<Answer> | Answer = () => null;

  constructor(storage: ThreadStorage) {
    this.storage = storage;
  }

  outbox(): WebhookOutbox {
    return new WebhookOutbox({
      storage: this.storage,
      send: async (outgoing) => {
        this.sent.push(outgoing);
        return this.answer(outgoing);
      },
      attemptLimitMs: ATTEMPT_LIMIT_MS,
      now: () => this.now,
      onAttempt: () => void (this.ended += 1),
      onGivenUp: (_run, record) => void this.givenUp.push(record),
    });
  }

  /** Ends the runs in the transaction that also makes their webhooks due. */
  end(outbox: WebhookOutbox): void {
    const { runs } = this.storage;
    this.storage.transaction(() => {
      for (const run of runs.inFlight()) {
        const end = { status: "success", error: null, stop: null } as const;
        runs.end(run.seq, { ...end, now: this.now, nextEvent: 0, expiresAt: null });
        outbox.add(run);
      }
    });
  }

  /** Waits until `sent` attempts have been made, and `ended` of them have ended. */
  async made({ sent, ended = sent }: { sent: number; ended?: number }): Promise<void> {
    await vi.waitUntil(() => this.sent.length === sent && this.ended === ended, BOUND);
  }

  records(): WebhookRecord[] {
    const ids = this.storage.runs.list({ limit: 100, offset: 0, status: null }).toReversed();
    return ids.map((id) => JSON.parse(this.storage.runs.get(id)?.webhook ?? "null"));
  }

  texts(): string[] {
    return this.storage.texts.withPrefix("webhook");
  }
}

/** Creates a thread with `count` runs that wait for a distant time, and have a webhook. */
async function withRuns<T>(count: number, work: (world: World) => Promise<T>): Promise<T> {
  const thread = newThread();
  for (let made = 0; made < count; made += 1) {
    const webhook = `https://hooks.example.com/${made}`;
    const { ok } = await thread.run("branching", { input: {}, after_seconds: 3600, webhook });
    assert(ok);
  }
  return runInDurableObject(thread.object, (_, { storage }) =>
    work(new World(new ThreadStorage(storage))),
  );
}

const refused = (): Answer => ({ error: "The receiver answered 500", isFinal: false });

describe("a webhook that is due", () => {
  test("is delivered once, and leaves nothing but its record", async ({ expect }) => {
    await withRuns(1, async (world) => {
      const outbox = world.outbox();
      world.end(outbox);
      expect(outbox.nextDue()).toBe(world.now);
      outbox.deliver();
      outbox.deliver();
      await world.made({ sent: 1 });
      outbox.deliver();
      expect([world.texts(), outbox.nextDue(), outbox.isEmpty()]).toEqual([[], null, true]);
      expect(world.records()).toEqual([
        {
          webhook: "https://hooks.example.com/0",
          status: "delivered",
          attempts: 1,
          last_attempt_at: world.now,
          error: null,
        },
      ]);
    });
  });

  test("is delivered after a crash between the end of the run and the attempt", async ({
    expect,
  }) => {
    await withRuns(1, async (world) => {
      world.end(world.outbox());
      const after = world.outbox();
      expect(after.nextDue()).toBe(world.now);
      after.deliver();
      await world.made({ sent: 1 });
      expect(world.records()[0]?.status).toBe("delivered");
    });
  });

  test("is delivered again, with the same id, after a crash before the delivery was noted", async ({
    expect,
  }) => {
    await withRuns(1, async (world) => {
      const dying = world.outbox();
      world.end(dying);
      world.answer = () => new Promise<Answer>(() => {});
      dying.deliver();
      await world.made({ sent: 1, ended: 0 });
      world.answer = () => null;
      const after = world.outbox();
      // An attempt that began just before may take up to the limit of an attempt.
      after.deliver();
      expect(world.records()[0]?.attempts).toBe(1);
      expect(after.nextDue()).toBe(world.now + ATTEMPT_LIMIT_MS + (RETRY_DELAYS_MS[0] ?? 0));
      world.now = after.nextDue() ?? 0;
      after.deliver();
      await world.made({ sent: 2, ended: 1 });
      const [first, second] = world.sent;
      expect(second?.run.run_id).toBe(first?.run.run_id);
      expect(second?.payload).toBe(first?.payload);
      expect(world.records()[0]).toMatchObject({ status: "delivered", attempts: 2 });
    });
  });

  test("is tried eight times within an hour, then given up", async ({ expect }) => {
    await withRuns(1, async (world) => {
      const outbox = world.outbox();
      world.answer = refused;
      world.end(outbox);
      const began = world.now;
      const tried: number[] = [];
      for (let due = outbox.nextDue(); due !== null; due = outbox.nextDue()) {
        world.now = due;
        outbox.deliver();
        tried.push(world.now - began);
        await world.made({ sent: tried.length });
      }
      expect(tried).toEqual(
        [0, ...RETRY_DELAYS_MS].map((_, index) =>
          RETRY_DELAYS_MS.slice(0, index).reduce((sum, pause) => sum + pause, 0),
        ),
      );
      expect([world.sent.length, tried.length, (tried.at(-1) ?? 0) < HOUR_MS]).toEqual([
        8,
        8,
        true,
      ]);
      expect(world.records()).toEqual(world.givenUp);
      expect(world.givenUp).toEqual([
        expect.objectContaining({
          status: "failed",
          attempts: 8,
          error: "The receiver answered 500",
        }),
      ]);
      expect(world.texts()).toEqual([]);
    });
  });

  test("is given up even if each attempt dies with its process", async ({ expect }) => {
    await withRuns(1, async (world) => {
      world.end(world.outbox());
      world.answer = () => new Promise<Answer>(() => {});
      for (let death = 0; death < 20; death += 1) {
        world.now = world.outbox().nextDue() ?? world.now;
        world.outbox().deliver();
      }
      await world.made({ sent: 8, ended: 0 });
      expect([world.sent.length, world.records()[0]]).toEqual([
        8,
        expect.objectContaining({ status: "failed", error: "The last attempt was cut off" }),
      ]);
    });
  });

  test("is given up at once if another attempt would fail, too", async ({ expect }) => {
    await withRuns(1, async (world) => {
      const outbox = world.outbox();
      world.answer = () => ({ error: "x".repeat(1000), isFinal: true });
      world.end(outbox);
      outbox.deliver();
      await world.made({ sent: 1 });
      expect(world.records()).toEqual([
        expect.objectContaining({ status: "failed", attempts: 1, error: "x".repeat(500) }),
      ]);
    });
  });

  test("is deleted with its run, also during an attempt", async ({ expect }) => {
    await withRuns(1, async (world) => {
      const outbox = world.outbox();
      const answer = Promise.withResolvers<Answer>();
      world.answer = () => answer.promise;
      world.end(outbox);
      outbox.deliver();
      await world.made({ sent: 1, ended: 0 });
      const [run] = world.sent.map((outgoing) => outgoing.run);
      assert(run !== undefined);
      world.storage.transaction(() => {
        outbox.forget(run);
        world.storage.runs.delete(run.seq);
      });
      answer.resolve(refused());
      await world.made({ sent: 1 });
      expect([world.texts(), outbox.nextDue(), world.givenUp]).toEqual([[], null, []]);
    });
  });
});

test("three attempts are made at a time, and the alarm only waits for their ends", async ({
  expect,
}) => {
  await withRuns(5, async (world) => {
    const outbox = world.outbox();
    const answers: ((answer: Answer) => void)[] = [];
    world.answer = () => new Promise((resolve) => answers.push(resolve));
    world.end(outbox);
    outbox.deliver();
    await world.made({ sent: 3, ended: 0 });
    expect(outbox.nextDue()).toBe(world.now + ATTEMPT_LIMIT_MS + (RETRY_DELAYS_MS[0] ?? 0));
    answers[0]?.(null);
    await world.made({ sent: 4, ended: 1 });
    answers[1]?.(null);
    await world.made({ sent: 5, ended: 2 });
    for (const answer of answers) answer(null);
    await world.made({ sent: 5 });
    expect(new Set(world.sent.map(({ webhook }) => webhook)).size).toBe(5);
    expect(world.records().map(({ status }) => status)).toEqual(Array(5).fill("delivered"));
  });
});
