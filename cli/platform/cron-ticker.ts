import type { Miniflare } from "miniflare";
import { fireScheduled } from "./worker-calls.ts";

const MINUTE_MS = 60_000;
/** Milliseconds until the first tick, so that it does not delay the first request of a start. */
const FIRST_TICK_MS = 1_000;
const EVERY_MINUTE = "* * * * *";

export type CronTicker = {
  /** Fires now, or when the running tick has ended. Resolves when the handler has ended. */
  fire: () => Promise<void>;
  stop: () => void;
};

/**
 * Fires the Worker's `scheduled` handler soon and at the start of every minute, because local workerd does not
 * do it by itself. A tick is skipped while the previous one is still running.
 */
export function startCronTicker(
  miniflare: Miniflare,
  crons: string[],
  warn: (message: string) => void,
): CronTicker {
  const others = crons.filter((cron) => cron !== EVERY_MINUTE);
  if (others.length > 0)
    warn(
      `these cron triggers do not fire locally, where only "${EVERY_MINUTE}" does: ${others.join(", ")}`,
    );
  if (!crons.includes(EVERY_MINUTE)) return { fire: async () => {}, stop: () => {} };

  let timer: NodeJS.Timeout;
  let running: Promise<void> | undefined;
  let stopped = false;
  const call = async (): Promise<void> => {
    try {
      await fireScheduled(miniflare, EVERY_MINUTE);
    } catch (error) {
      if (!stopped) warn(`a scheduled tick failed: ${(error as Error).message}`);
    } finally {
      running = undefined;
    }
  };
  const tick = (): void => {
    if (!stopped) running ??= call();
  };
  const schedule = (): void => {
    timer = setTimeout(
      () => {
        schedule();
        tick();
      },
      MINUTE_MS - (Date.now() % MINUTE_MS),
    );
    timer.unref();
  };
  schedule();
  const first = setTimeout(tick, FIRST_TICK_MS);
  first.unref();
  return {
    fire: async () => {
      clearTimeout(first);
      // What it is to do may have come after the running tick has looked.
      await running;
      tick();
      await running;
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      clearTimeout(first);
    },
  };
}
