/**
 * Keeps `concurrency` operations in flight and returns how many ended per second. Only operations that end between the
 * ramp and the end of the window count, so neither start nor tail favours a side.
 */
export async function measureThroughput(
  operation: () => Promise<unknown>,
  options: { concurrency: number; rampMs: number; windowMs: number },
): Promise<number> {
  const countFrom = performance.now() + options.rampMs;
  const countUntil = countFrom + options.windowMs;
  let counted = 0;
  async function worker(): Promise<void> {
    while (performance.now() < countUntil) {
      await operation();
      const now = performance.now();
      if (now >= countFrom && now < countUntil) counted += 1;
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  return counted / (options.windowMs / 1_000);
}
