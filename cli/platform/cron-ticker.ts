import type { Miniflare } from "miniflare";

const MINUTE_MS = 60_000;
const EVERY_MINUTE = "* * * * *";

/** What Miniflare's worker handle has, whose own type needs Cloudflare's type package. */
type Scheduled = { scheduled: (event: { cron: string; scheduledTime: Date }) => Promise<unknown> };

/**
 * Fires the Worker's `scheduled` handler at the start of every minute, which local workerd does not do
 * by itself. Returns a function that stops it. A tick is skipped while the one before is still running.
 */
export function startCronTicker(
  miniflare: Miniflare,
  crons: string[],
  warn: (message: string) => void,
): () => void {
  const others = crons.filter((cron) => cron !== EVERY_MINUTE);
  if (others.length > 0) warn(`not fired locally, only "${EVERY_MINUTE}" is: ${others.join(", ")}`);
  if (!crons.includes(EVERY_MINUTE)) return () => {};

  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    timer = setTimeout(() => void tick(), MINUTE_MS - (Date.now() % MINUTE_MS));
    timer.unref();
  };
  const tick = async (): Promise<void> => {
    try {
      const worker = (await miniflare.getWorker()) as unknown as Scheduled;
      await worker.scheduled({ cron: EVERY_MINUTE, scheduledTime: new Date() });
    } catch (error) {
      warn(`a scheduled tick failed: ${(error as Error).message}`);
    }
    schedule();
  };
  schedule();
  return () => clearTimeout(timer);
}
