import { setTimeout as sleep } from "node:timers/promises";

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

/** Failures that are not worth a word: the database may not answer before the Worker does. */
const SILENT_FAILURES = 5;

/**
 * Releases what a Worker that crashed had claimed, and tries until it is done: workerd takes a moment to
 * serve the database again, and may crash meanwhile. Ends early when the signal says that another crash,
 * or the end, has made it pointless.
 */
export async function releaseAfterCrash(options: {
  release: () => Promise<void>;
  signal: AbortSignal;
  warn: (message: string) => void;
  /** Before the second try; each further pause is twice as long, up to a limit. */
  firstDelayMs?: number;
}): Promise<void> {
  const { release, signal, warn, firstDelayMs = FIRST_DELAY_MS } = options;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      await release();
      return;
    } catch (error) {
      if (failures === SILENT_FAILURES && !signal.aborted) {
        warn(`what the Worker had claimed is not released yet: ${(error as Error).message}`);
      }
    }
    const delayMs = Math.min(firstDelayMs * 2 ** (failures - 1), MAX_DELAY_MS);
    // The signal ends the pause, too.
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  }
}
