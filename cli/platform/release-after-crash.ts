import { setTimeout as sleep } from "node:timers/promises";

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

/** Number of failures before a warning: the database may become available later than the Worker. */
const SILENT_FAILURES = 5;

/**
 * Releases what a crashed Worker had claimed, and retries until it succeeds: workerd needs a moment until the
 * database is available again, and may crash meanwhile. Stops early when the signal is aborted, because
 * another crash or the shutdown has made the release pointless.
 */
export async function releaseAfterCrash(options: {
  release: () => Promise<void>;
  signal: AbortSignal;
  warn: (message: string) => void;
  /** Pause before the second attempt; each further pause is twice as long, up to a limit. */
  firstDelayMs?: number;
}): Promise<void> {
  const { release, signal, warn, firstDelayMs = FIRST_DELAY_MS } = options;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      await release();
      return;
    } catch (error) {
      if (failures === SILENT_FAILURES && !signal.aborted) {
        warn(`the leases of the former Worker are not released yet: ${(error as Error).message}`);
      }
    }
    const delayMs = Math.min(firstDelayMs * 2 ** (failures - 1), MAX_DELAY_MS);
    // The signal ends the pause, too.
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  }
}
