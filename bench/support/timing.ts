/** Measures how long the work takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Formats the time since the start, for progress messages. */
export function secondsSince(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}
