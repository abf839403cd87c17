import { describe, test as base, vi } from "vitest";
import { type DecisionDeps, decideAdmission } from "../../../src/rate-limits/decide.ts";
import type { LocalLimiter } from "../../../src/rate-limits/local-limiter.ts";
import { LocalLimiters } from "../../../src/rate-limits/local-limiter.ts";
import type { TakeAnswer, TakeRequest } from "../../../src/rate-limits/sliding-window.ts";

const EXACT = { count: 2, seconds: 10 };
const LEASED = { count: 1000, seconds: 10 };
const LEASE_MS = 5000;

const GIVEN: TakeAnswer = { admitted: true, free: 1, lease: null, leaseMs: LEASE_MS };

/** A counter with scripted answers. */
class Counter {
  readonly asked: TakeRequest[] = [];
  readonly work: Promise<unknown>[] = [];
  readonly waits: { ms: number; end: () => void }[] = [];
  readonly errors: unknown[] = [];
  now = 1_000_000;
  readonly limiters = new LocalLimiters(() => this.now);
  readonly limiter: LocalLimiter = this.limiters.get("one");
  answer: (request: TakeRequest) => Promise<TakeAnswer> = () => Promise.resolve(GIVEN);

  readonly deps: DecisionDeps = {
    ask: (request) => {
      this.asked.push(request);
      return this.answer(request);
    },
    now: this.limiters.now,
    goOn: (work) => void this.work.push(work),
    wait: (ms) => new Promise((resolve) => this.waits.push({ ms, end: resolve })),
    onUnreachable: (error) => void this.errors.push(error),
  };
}

const test = base.extend("counter", () => new Counter());

describe("an exact limit", () => {
  test("asks the counter for each request", async ({ counter, expect }) => {
    for (let count = 0; count < 3; count += 1) {
      const decision = await decideAdmission(counter.limiter, EXACT, counter.deps);
      expect(decision).toEqual({ kind: "admitted", remaining: 1 });
    }
    const request = { limit: EXACT, needed: 1, spare: 0, settled: [] };
    expect(counter.asked).toEqual([request, request, request]);
  });

  test("knows until when requests are refused", async ({ counter, expect }) => {
    counter.answer = () => Promise.resolve({ admitted: false, retryMs: 3000, leaseMs: 100 });
    const decisions = [];
    for (const ms of [0, 1, 2999]) {
      counter.now = 1_000_000 + ms;
      decisions.push(await decideAdmission(counter.limiter, EXACT, counter.deps));
    }
    expect(decisions).toEqual([
      { kind: "refused", retryMs: 3000 },
      { kind: "refused", retryMs: 2999 },
      { kind: "refused", retryMs: 1 },
    ]);
    expect(counter.asked).toHaveLength(1);
    counter.now += 1;
    counter.answer = () => Promise.resolve(GIVEN);
    const decision = await decideAdmission(counter.limiter, EXACT, counter.deps);
    expect(decision).toEqual({ kind: "admitted", remaining: 1 });
  });
});

describe("a leased limit", () => {
  async function lease(counter: Counter, permits: number): Promise<void> {
    await decideAdmission(counter.limiter, LEASED, counter.deps);
    counter.answer = () =>
      Promise.resolve({ ...GIVEN, free: 900, lease: { id: 7, permits }, leaseMs: LEASE_MS });
    counter.now += 50;
    await decideAdmission(counter.limiter, LEASED, counter.deps);
    counter.answer = () => Promise.resolve({ ...GIVEN, free: 890 });
    counter.asked.length = 0;
  }

  test("admits requests by its lease without a call, and renews it early", async ({
    counter,
    expect,
  }) => {
    await lease(counter, 4);
    const decisions = [];
    for (let count = 0; count < 3; count += 1) {
      decisions.push(await decideAdmission(counter.limiter, LEASED, counter.deps));
    }
    expect(decisions).toEqual([
      { kind: "admitted", remaining: 903 },
      { kind: "admitted", remaining: 902 },
      { kind: "admitted", remaining: 901 },
    ]);
    expect(counter.asked).toEqual([{ limit: LEASED, needed: 0, spare: 2, settled: [] }]);
  });

  test("returns the rest of a lease when it ends", async ({ counter, expect }) => {
    await lease(counter, 4);
    await decideAdmission(counter.limiter, LEASED, counter.deps);
    expect(counter.waits.map(({ ms }) => ms)).toEqual([LEASE_MS]);
    counter.now += LEASE_MS;
    counter.waits[0]?.end();
    await Promise.all(counter.work);
    expect(counter.asked).toEqual([
      { limit: LEASED, needed: 0, spare: 0, settled: [{ lease: 7, used: 1 }] },
    ]);
  });

  test("a lease that has ended, or whose clock was set back, admits no request", async ({
    counter,
    expect,
  }) => {
    for (const step of [LEASE_MS, -1]) {
      await lease(counter, 4);
      counter.now += step;
      await decideAdmission(counter.limiter, LEASED, counter.deps);
      expect(counter.asked.map(({ needed, settled }) => ({ needed, settled }))).toEqual([
        { needed: 1, settled: [{ lease: 7, used: 0 }] },
      ]);
    }
  });

  test("a lease that arrives after the clock was set back is returned", async ({
    counter,
    expect,
  }) => {
    await decideAdmission(counter.limiter, LEASED, counter.deps);
    counter.now += 50;
    counter.answer = () => {
      counter.now -= 1_000;
      return Promise.resolve({ ...GIVEN, lease: { id: 7, permits: 4 } });
    };
    await decideAdmission(counter.limiter, LEASED, counter.deps);
    counter.answer = () => Promise.resolve(GIVEN);
    await decideAdmission(counter.limiter, LEASED, counter.deps);
    expect(counter.asked.at(-1)).toMatchObject({ needed: 1, settled: [{ lease: 7, used: 0 }] });
  });
});

describe("an unreachable object", () => {
  test("does not count requests, and is not called for some seconds", async ({
    counter,
    expect,
  }) => {
    counter.answer = () => Promise.reject(new Error("gone"));
    for (const ms of [0, 1, 4998]) {
      counter.now += ms;
      const decision = await decideAdmission(counter.limiter, EXACT, counter.deps);
      expect(decision).toEqual({ kind: "uncounted" });
    }
    expect(counter.asked).toHaveLength(1);
    expect(counter.errors).toEqual([new Error("gone")]);
    counter.now += 1;
    counter.answer = () => Promise.resolve(GIVEN);
    expect(await decideAdmission(counter.limiter, EXACT, counter.deps)).toMatchObject({
      kind: "admitted",
    });
  });

  test("delays a request for a second at most", async ({ counter, expect, onTestFinished }) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    counter.answer = () => new Promise(() => {});
    const decision = decideAdmission(counter.limiter, EXACT, counter.deps);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await decision).toEqual({ kind: "uncounted" });
    expect(counter.errors).toEqual([new Error("No answer in 1000 ms")]);
  });
});

describe("the limiters of an isolate", () => {
  test("are bounded, and those without a lease are evicted first", async ({ counter, expect }) => {
    const limiters = new LocalLimiters(() => counter.now, 2);
    const busy = limiters.get("busy");
    counter.answer = () => Promise.resolve({ admitted: false, retryMs: 3000, leaseMs: 100 });
    await decideAdmission(busy, EXACT, { ...counter.deps, now: limiters.now });
    const idle = limiters.get("idle");
    limiters.get("another");
    expect(limiters.get("busy")).toBe(busy);
    expect(limiters.get("idle")).not.toBe(idle);
  });
});
