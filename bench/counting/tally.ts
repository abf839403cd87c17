import {
  type Counts,
  type HopDelays,
  type HopKind,
  NO_COUNTS,
  NO_DELAYS,
  type RowsByStatement,
  type Shares,
} from "./counts.ts";

/** The counts of this isolate, which runs the Worker and, locally, all of its objects. */
export const counts: Counts = { ...NO_COUNTS };

export const shares: Shares = { calls: {}, bytes: {} };

export function add(amounts: Record<string, number>, name: string, amount: number): void {
  amounts[name] = (amounts[name] ?? 0) + amount;
}

export const byStatement: RowsByStatement = {};

let hopDelays: HopDelays = NO_DELAYS;

export function delayHops(delays: HopDelays): void {
  hopDelays = delays;
}

/** Makes a call that would leave the isolate on Cloudflare, after the configured delay of such hops. */
export async function hop<T>(kind: HopKind, call: () => Promise<T>): Promise<T> {
  const delayMs = hopDelays[kind];
  if (delayMs > 0) await scheduler.wait(delayMs);
  return call();
}

export function countStatement(origin: string, text: string, rowsWritten: number): void {
  const name = `${origin}: ${text.replaceAll(/\s+/g, " ").trim().slice(0, 120)}`;
  const known = (byStatement[name] ??= { count: 0, rowsWritten: 0 });
  known.count += 1;
  known.rowsWritten += rowsWritten;
}
