import type { CronTick } from "../../../lib/cron-tick.ts";
import type { TextTable } from "./text-table.ts";

/** Name of the stored text that holds the tick for which a temporary thread was created. */
const TICK = "tick";

/** Stores the tick for which a temporary thread was created. Must be called in a transaction. */
export function keepTick(texts: TextTable, tick: CronTick): void {
  texts.set(TICK, JSON.stringify(tick));
}

/** Returns null if the thread was not created for a tick, or its cron has recorded the tick. */
export function tickOf(texts: TextTable): CronTick | null {
  const text = texts.get(TICK);
  return text === null ? null : JSON.parse(text);
}

/**
 * Deletes the tick once its cron has recorded it and will not create a run for it again. Must be called in a
 * transaction.
 */
export function forgetTick(texts: TextTable): void {
  texts.delete(TICK);
}
