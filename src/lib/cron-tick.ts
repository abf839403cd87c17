import { parse, v5 as uuidv5, v7 as uuidv7 } from "uuid";

/** One time of one cron, in epoch milliseconds. */
export type CronTick = { cronId: string; at: number };

/** The id of the run of a tick: it follows from the tick alone, and is ordered by time as other ids are. */
export function runIdOfTick({ cronId, at }: CronTick): string {
  return uuidv7({ msecs: at, random: parse(uuidv5(String(at), cronId)) });
}
