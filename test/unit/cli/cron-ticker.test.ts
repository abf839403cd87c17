import { beforeEach, describe, onTestFinished, test, vi } from "vitest";
import { type CronTicker, startCronTicker } from "../../../cli/platform/cron-ticker.ts";

const FIRST_TICK_MS = 1_000;
const MINUTE_MS = 60_000;

/** Starts a ticker for a Worker whose ticks end when `end` is called. */
function start(): CronTicker & { fired: () => number; end: () => void } {
  const pending: (() => void)[] = [];
  let fired = 0;
  const dispatchFetch = async (): Promise<Response> => {
    fired += 1;
    await new Promise<void>((resolve) => pending.push(resolve));
    return Response.json({ answer: { outcome: "ok" } });
  };
  const miniflare = { dispatchFetch } as unknown as Parameters<typeof startCronTicker>[0];
  const ticker = startCronTicker(miniflare, ["* * * * *"], (message) => {
    throw new Error(message);
  });
  onTestFinished(() => ticker.stop());
  return { ...ticker, fired: () => fired, end: () => pending.shift()?.() };
}

describe("the ticks of a local server", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
    onTestFinished(() => void vi.useRealTimers());
  });

  test("are the first one a moment after the start, and one in each minute", async ({ expect }) => {
    const { fired, end } = start();
    await vi.advanceTimersByTimeAsync(FIRST_TICK_MS - 1);
    expect(fired()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(fired()).toBe(1);
    end();
    await vi.advanceTimersByTimeAsync(MINUTE_MS - FIRST_TICK_MS);
    expect(fired()).toBe(2);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(fired(), "while the one before runs").toBe(2);
  });

  test("begin with the one that is asked for", async ({ expect }) => {
    const { fire, fired, end } = start();
    const ended = fire();
    await vi.advanceTimersByTimeAsync(1);
    expect(fired()).toBe(1);
    end();
    await ended;
    await vi.advanceTimersByTimeAsync(FIRST_TICK_MS);
    expect(fired()).toBe(1);
  });

  test("are not left out while another one runs that has looked already", async ({ expect }) => {
    const { fire, fired, end } = start();
    await vi.advanceTimersByTimeAsync(FIRST_TICK_MS);
    const ended = fire();
    await vi.advanceTimersByTimeAsync(1);
    expect(fired()).toBe(1);
    end();
    await vi.advanceTimersByTimeAsync(1);
    expect(fired()).toBe(2);
    end();
    await ended;
  });
});
