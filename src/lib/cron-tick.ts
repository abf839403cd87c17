import { parse, v5 as uuidv5, v7 as uuidv7 } from "uuid";

/** One scheduled time of one cron; `at` is in milliseconds since the epoch. */
export type CronTick = { cronId: string; at: number };

/**
 * Returns the id of a tick's run. It is a UUIDv7 derived from the tick alone, so it sorts by time as other ids do.
 */
export function runIdOfTick({ cronId, at }: CronTick): string {
  return uuidv7({ msecs: at, random: parse(uuidv5(String(at), cronId)) });
}
