import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, test, vi } from "vitest";
import { decideAdmission } from "../../src/rate-limits/decide.ts";
import { LocalLimiters } from "../../src/rate-limits/local-limiter.ts";
import type { TakeRequest } from "../../src/rate-limits/sliding-window.ts";
import type { Limit } from "../../src/rate-limits/policy.ts";

const NOW = Date.UTC(2030, 0, 1);
const LOW: Limit = { count: 2, seconds: 10 };
const HIGH: Limit = { count: 1000, seconds: 10 };

let now = NOW;

beforeEach(() => {
  now = NOW;
  vi.spyOn(Date, "now").mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function newObject() {
  return env.RATE_LIMITERS.getByName(crypto.randomUUID());
}

function one(limit: Limit, fields: Partial<TakeRequest> = {}): TakeRequest {
  return { limit, needed: 1, spare: 0, settled: [], ...fields };
}

async function storedKeys(object: ReturnType<typeof newObject>): Promise<string[]> {
  return runInDurableObject(object, (_, { storage }) => [...storage.kv.list()].map(([key]) => key));
}

describe("the counting object", () => {
  test("refuses a request over the limit, and reports when to retry", async ({ expect }) => {
    const object = newObject();
    expect(await object.take(one(LOW))).toMatchObject({ admitted: true, free: 1, lease: null });
    now += 4_000;
    expect(await object.take(one(LOW))).toMatchObject({ admitted: true, free: 0 });
    // The first permit is free again after the interval and the tolerance for clocks.
    expect(await object.take(one(LOW))).toMatchObject({ admitted: false, retryMs: 6_200 });
    now += 6_199;
    expect(await object.take(one(LOW))).toMatchObject({ admitted: false, retryMs: 1 });
    now += 1;
    expect(await object.take(one(LOW))).toMatchObject({ admitted: true, free: 0 });
  });

  test("keeps used permits and leases over an eviction", async ({ expect }) => {
    const object = newObject();
    await object.take(one(HIGH));
    const answer = await object.take(one(HIGH, { spare: 15 }));
    expect(answer).toMatchObject({ admitted: true, free: 983, lease: { permits: 15 } });
    await evictDurableObject(object);
    expect(await object.take(one(HIGH))).toMatchObject({ free: 982 });
    const lease = answer.admitted ? answer.lease?.id : undefined;
    await evictDurableObject(object);
    const settled = [{ lease: Number(lease), used: 5 }];
    expect(await object.take(one(HIGH, { settled }))).toMatchObject({ free: 991 });
    // A lease is settled twice when an answer was lost.
    expect(await object.take(one(HIGH, { settled }))).toMatchObject({ free: 990 });
  });

  test("counts a lease that is never settled as used when it ends", async ({ expect }) => {
    const object = newObject();
    const answer = await object.take(one(HIGH, { spare: 10 }));
    expect(answer.leaseMs).toBe(4_995);
    now += 10_200;
    expect(await object.take(one(HIGH, { needed: 0 }))).toMatchObject({ free: 990 });
    now += 4_994;
    expect(await object.take(one(HIGH, { needed: 0 }))).toMatchObject({ free: 990 });
    now += 1;
    expect(await object.take(one(HIGH, { needed: 0 }))).toMatchObject({ free: 1000 });
  });

  test("frees nothing when its clock is set back, and continues from there", async ({ expect }) => {
    const object = newObject();
    for (let count = 0; count < 2; count += 1) await object.take(one(LOW));
    now -= 3_600_000;
    expect(await object.take(one(LOW))).toMatchObject({ admitted: false, retryMs: 10_200 });
    now += 10_199;
    expect(await object.take(one(LOW))).toMatchObject({ admitted: false, retryMs: 1 });
    now += 1;
    expect(await object.take(one(LOW))).toMatchObject({ admitted: true });
  });

  test("leases no low limit, and never all remaining permits", async ({ expect }) => {
    expect(await newObject().take(one({ count: 100, seconds: 60 }, { spare: 5 }))).toMatchObject({
      free: 99,
      lease: null,
    });
    const object = newObject();
    const permits = [];
    for (let count = 0; count < 100; count += 1) {
      const answer = await object.take(one(HIGH, { needed: 0, spare: 1000 }));
      permits.push(answer.admitted ? (answer.lease?.permits ?? 0) : -1);
    }
    expect(permits[0]).toBe(50);
    expect(permits.at(-1)).toBe(0);
    expect(await object.take(one(HIGH))).toMatchObject({ admitted: true });
  });

  test("writes nothing when it grants nothing", async ({ expect }) => {
    const object = newObject();
    await object.take(one(HIGH, { needed: 0 }));
    expect(await storedKeys(object)).toEqual([]);
    await object.take(one({ count: 1, seconds: 10 }));
    const stored = (): Promise<unknown> =>
      runInDurableObject(object, (_, { storage }) => structuredClone(storage.kv.get("window")));
    const before = await stored();
    now += 1_000;
    expect(await object.take(one({ count: 1, seconds: 10 }))).toMatchObject({ admitted: false });
    expect(await stored()).toEqual(before);
  });

  test("deletes itself when nothing is in use", async ({ expect }) => {
    const object = newObject();
    await object.take(one({ count: 30, seconds: 3600 }));
    expect(await storedKeys(object)).toEqual(["window"]);
    now += 60_000;
    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await storedKeys(object)).toEqual(["window"]);
    now += 3_600_000;
    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await storedKeys(object)).toEqual([]);
    expect(await runDurableObjectAlarm(object)).toBe(false);
    await object.take(one(LOW));
    expect(await storedKeys(object)).toEqual(["window"]);
    expect(await runDurableObjectAlarm(object)).toBe(true);
  });

  test("admits no more than the limit from three isolates together", async ({ expect }) => {
    const object = newObject();
    const work: Promise<unknown>[] = [];
    const isolates = [1, 2, 3].map(() => new LocalLimiters(() => Date.now()));
    const kinds: Record<string, number> = {};
    for (let count = 0; count < 1_500; count += 1) {
      now += 1;
      const limiters = isolates[count % 3];
      if (limiters === undefined) throw new Error("There are three");
      const { kind } = await decideAdmission(limiters.get("one"), HIGH, {
        ask: (request) => object.take(request),
        now: limiters.now,
        goOn: (more) => void work.push(more),
        // Unused permits do not come back meanwhile.
        wait: () => new Promise(() => {}),
        onUnreachable: (error) => {
          throw error;
        },
      });
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    expect(kinds).toEqual({ admitted: 1_000, refused: 500 });
  });
});
