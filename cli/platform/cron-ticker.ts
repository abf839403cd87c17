import type { Miniflare } from "miniflare";
import { fireScheduled } from "./worker-calls.ts";

const MINUTE_MS = 60_000;
const EVERY_MINUTE = "* * * * *";

export type CronTicker = {
  /** Fires now, in addition to every minute, unless a tick is running. Resolves when the handler has ended. */
  fire: () => Promise<void>;
  stop: () => void;
};

/**
 * Fires the Worker's `scheduled` handler now and at the start of every minute, because local workerd does not
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
  let running = false;
  let stopped = false;
  const tick = async (): Promise<void> => {
    if (running || stopped) return;
    running = true;
    try {
      await fireScheduled(miniflare, EVERY_MINUTE);
    } catch (error) {
      if (!stopped) warn(`a scheduled tick failed: ${(error as Error).message}`);
    } finally {
      running = false;
    }
  };
  const schedule = (): void => {
    timer = setTimeout(
      () => {
        schedule();
        void tick();
      },
      MINUTE_MS - (Date.now() % MINUTE_MS),
    );
    timer.unref();
  };
  schedule();
  void tick();
  return {
    fire: tick,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
