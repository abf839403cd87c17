import type { CronTick } from "../../../lib/cron-tick.ts";
import type { TextTable } from "./text-table.ts";

/** The name, among a thread's long texts, of the tick that a temporary thread was made for. */
const TICK = "tick";

/** Notes the tick that a temporary thread was made for. In a transaction. */
export function keepTick(texts: TextTable, tick: CronTick): void {
  texts.set(TICK, JSON.stringify(tick));
}

/** Null when the thread was made for none, or its cron has noted the tick. */
export function tickOf(texts: TextTable): CronTick | null {
  const text = texts.get(TICK);
  return text === null ? null : JSON.parse(text);
}

/** The cron has noted the tick: it makes no run for it any more. In a transaction. */
export function forgetTick(texts: TextTable): void {
  texts.delete(TICK);
}
