import { type Counts, NO_COUNTS, type RowsByStatement } from "./counts.ts";

/** Of this isolate, in which the Worker and all its local objects are. */
export const counts: Counts = { ...NO_COUNTS };

export const byStatement: RowsByStatement = {};

let hopDelayMs = 0;

export function delayHops(ms: number): void {
  hopDelayMs = ms;
}

/** Makes a call that leaves the isolate on Cloudflare, after the delay that hops have. */
export async function hop<T>(call: () => Promise<T>): Promise<T> {
  if (hopDelayMs > 0) await scheduler.wait(hopDelayMs);
  return call();
}

export function countStatement(origin: string, text: string, rowsWritten: number): void {
  const name = `${origin}: ${text.replaceAll(/\s+/g, " ").trim().slice(0, 120)}`;
  const known = (byStatement[name] ??= { count: 0, rowsWritten: 0 });
  known.count += 1;
  known.rowsWritten += rowsWritten;
}
